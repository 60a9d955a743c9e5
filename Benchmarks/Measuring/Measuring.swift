// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// Why a measurement could not be made.
package struct Failure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// The system's clocks.
package enum Clock {
  /// Seconds of a clock: of the monotonic one, unless another is named.
  package static func seconds(_ clock: clockid_t = CLOCK_MONOTONIC) -> Double {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// Memory of this process, from /proc/self/status, in MiB: `VmRSS` for now, `VmHWM` for the most there was.
package func memory(_ name: String) -> Int {
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

/// A number with so many decimals, 1 to 9.
package func rounded(_ value: Double, decimals: Int = 3) -> String {
  var scale = 1
  for _ in 0..<decimals { scale *= 10 }
  let scaled = Int((value * Double(scale)).rounded())
  let fraction = String(scaled.magnitude % UInt(scale))
  let zeros = String(repeating: "0", count: decimals - fraction.utf8.count)
  return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / UInt(scale)).\(zeros)\(fraction)"
}
