// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Progress on standard error when it is a terminal; nothing otherwise.
struct ProgressBar {
  private let total: Int?
  private let isShown: Bool
  private let start = Self.seconds()
  private var done = 0
  private var lastShown = 0.0

  init(total: Int?) {
    self.total = total
    isShown = isatty(STDERR_FILENO) == 1
  }

  mutating func advance(by byteCount: Int) {
    done += byteCount
    guard isShown else { return }
    let now = Self.seconds()
    guard now - lastShown >= 0.1 else { return }
    lastShown = now
    show(now)
  }

  mutating func finish() {
    guard isShown, lastShown > 0 else { return }
    _ = writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }

  private func show(_ now: Double) {
    let megabytes = done >> 20
    let rate = Int(Double(done) / max(now - start, 0.001)) >> 20
    var line = "\r\u{1B}[K"
    if let total, total > 0 {
      let share = min(1, Double(done) / Double(total))
      let filled = Int(share * 30)
      line += "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled) + "] "
      line += "\(Int(share * 100)) % "
    }
    line += "\(megabytes) MiB, \(rate) MiB/s"
    _ = writeAll(Array(line.utf8), to: STDERR_FILENO)
  }

  private static func seconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
