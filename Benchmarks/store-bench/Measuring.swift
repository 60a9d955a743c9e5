// SPDX-License-Identifier: Apache-2.0

import Glibc

struct Failure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

enum Clock {
  /// Seconds of the monotonic clock.
  static func seconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// What a disk can do at most: a page written behind the one before, and synced.
final class SyncProbe {
  private let descriptor: Int32
  private var page = [UInt8](repeating: 0x5a, count: 4096)
  private var written = 0

  init(path: String) throws {
    descriptor = unsafe open(path, O_CREAT | O_TRUNC | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw Failure("\(path) cannot be written.") }
    // The blocks are there, as in a log that goes round.
    for _ in 0..<1024 { _ = unsafe write(descriptor, page, page.count) }
    fsync(descriptor)
  }

  deinit { close(descriptor) }

  /// How many seconds it took.
  func writeAndSync() throws -> Double {
    page[0] &+= 1
    let start = Clock.seconds()
    let count = unsafe pwrite(descriptor, page, page.count, (written % 1024) * page.count)
    guard count == page.count, fdatasync(descriptor) == 0 else {
      throw Failure("The probe's file cannot be written.")
    }
    written += 1
    return Clock.seconds() - start
  }
}

/// Memory of this process, from /proc/self/status, in MiB: `VmRSS` for now, `VmHWM` for the most there was.
func memory(_ name: String) -> Int {
  guard let file = unsafe fopen("/proc/self/status", "r") else { return 0 }
  defer { unsafe fclose(file) }
  var line: UnsafeMutablePointer<CChar>?
  var capacity = 0
  defer { unsafe free(line) }
  while unsafe getline(&line, &capacity, file) > 0, let text = unsafe line {
    let text = unsafe String(cString: text)
    if text.hasPrefix(name) { return (text.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024 }
  }
  return 0
}

/// A number with three decimals.
func rounded(_ value: Double) -> String {
  let scaled = Int((value * 1000).rounded())
  let fraction = String(scaled % 1000)
  return "\(scaled / 1000).\(String(repeating: "0", count: 3 - fraction.utf8.count))\(fraction)"
}
