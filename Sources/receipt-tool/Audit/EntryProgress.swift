// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Progress in entries on standard error when it is a terminal; nothing otherwise.
final class EntryProgress: Sendable {
  private let verb: String
  private let isShown = isatty(STDERR_FILENO) == 1
  private let start = ContinuousClock.now
  private let lastShown = Mutex<ContinuousClock.Instant?>(nil)

  init(_ verb: String) { self.verb = verb }

  func show(_ done: UInt64, of total: UInt64) {
    guard isShown else { return }
    let now = ContinuousClock.now
    let isDue = lastShown.withLock { last in
      if let last, now - last < .milliseconds(100) { return false }
      last = now
      return true
    }
    guard isDue else { return }
    let rate = UInt64(Double(done) / max((now - start) / .seconds(1), 0.001))
    let percent = total == 0 ? 100 : min(100, done * 100 / total)
    let filled = Int(percent) * 30 / 100
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
    let line = "\r\u{1B}[K[\(bar)] \(percent) % \(verb) \(done) of \(total) entries, \(rate)/s"
    _ = writeAll(Array(line.utf8), to: STDERR_FILENO)
  }

  func finish() {
    guard isShown, lastShown.withLock({ $0 != nil }) else { return }
    _ = writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }
}
