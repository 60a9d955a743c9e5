// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// The progress of long work: a bar while standard error is a terminal, and the total and the rate at the end.
final class Progress: Sendable {
  private let verb: String
  private let unit: String
  private let isShown = isatty(STDERR_FILENO) == 1
  private let start = ContinuousClock.now
  private let state = Mutex<(done: UInt64, lastShown: ContinuousClock.Instant?)>((0, nil))

  /// - Parameters:
  ///   - verb: The action in the past tense, such as `checked`.
  ///   - unit: The unit that is counted.
  init(_ verb: String, _ unit: String = "entries") {
    self.verb = verb
    self.unit = unit
  }

  func show(_ done: UInt64, of total: UInt64) {
    show(done, share: total == 0 ? 1 : Double(done) / Double(total))
  }

  /// - Parameters:
  ///   - done: The number of units that are done.
  ///   - share: The share of the work that is done, 0 to 1; `nil` if unknown.
  func show(_ done: UInt64, share: Double?) {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      state.done = done
      guard isShown else { return false }
      if let last = state.lastShown, now - last < .milliseconds(100) { return false }
      state.lastShown = now
      return true
    }
    guard isDue else { return }
    let elapsed = (now - start) / .seconds(1)
    var line = "\r\u{1B}[K"
    if let share {
      let share = min(1, max(0, share))
      let filled = Int(share * 30)
      line += "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 30 - filled)
      line += "] \(Int(share * 100)) %  "
    }
    line += "\(verb) \(done) \(unit), \(Self.rate(done, elapsed))/s"
    // An estimate from the first moments would be a guess.
    if let share, share > 0.02, elapsed > 2 { line += ", \(Int(elapsed * (1 - share) / share) + 1) s left" }
    _ = writeAll(Array(line.utf8), to: STDERR_FILENO)
  }

  func clear() {
    guard state.withLock({ $0.lastShown != nil }) else { return }
    _ = writeAll(Array("\r\u{1B}[K".utf8), to: STDERR_FILENO)
  }

  /// Removes the bar, and prints the total and the rate.
  func finish(_ detail: String = "") {
    clear()
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    let done = state.withLock(\.done)
    // A total is not worth printing if the work took less than a second.
    guard elapsed >= 1, done > 0 else { return }
    let seconds = (elapsed * 10).rounded() / 10
    note("receipt-tool: \(verb) \(done) \(unit) in \(seconds) s, \(Self.rate(done, elapsed))/s\(detail)")
  }

  private static func rate(_ done: UInt64, _ elapsed: Double) -> Int {
    Int(Double(done) / max(elapsed, 0.001))
  }
}
