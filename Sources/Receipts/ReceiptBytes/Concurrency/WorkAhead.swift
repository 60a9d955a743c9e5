// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Parts of work that other threads do ahead of the thread that consumes the results in order.
///
/// If a part has not begun when its result is needed, the consuming thread does it itself. So nothing waits for other
/// threads while all processors are busy.
package final class WorkAhead<Part: Sendable>: Sendable {
  private struct State {
    var isBegun = false
    var result: Result<Part, any Error>?
  }

  private let ranges: [Range<Int>]
  private let work: @Sendable (Range<Int>) throws -> Part
  private let states: Mutex<[State]>
  private let finished: [DispatchSemaphore]

  /// Begins the work.
  ///
  /// - Parameters:
  ///   - ranges: The range of each part.
  ///   - work: Does one part.
  package init(_ ranges: [Range<Int>], _ work: @escaping @Sendable (Range<Int>) throws -> Part) {
    self.ranges = ranges
    self.work = work
    states = Mutex([State](repeating: State(), count: ranges.count))
    finished = ranges.map { _ in DispatchSemaphore(value: 0) }
    let helpers = min(ranges.count, AllProcessors.count) - 1
    for _ in 0..<max(0, helpers) {
      DispatchQueue.global().async { [self] in for number in ranges.indices { doIfNotBegun(number) } }
    }
  }

  /// Passes the results of all parts to a closure, in order.
  ///
  /// - Throws: The error of a part (if several throw, that of the first of them), or the error that `body` throws.
  package func forEach(_ body: (Part) throws -> Void) throws {
    for number in ranges.indices {
      doIfNotBegun(number)
      finished[number].wait()
      if let result = states.withLock({ $0[number].result.take() }) { try body(result.get()) }
    }
  }

  private func doIfNotBegun(_ number: Int) {
    let isBegun = states.withLock { states in
      defer { states[number].isBegun = true }
      return states[number].isBegun
    }
    guard !isBegun else { return }
    let result = Result { try work(ranges[number]) }
    states.withLock { $0[number].result = result }
    finished[number].signal()
  }
}
