// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Work that other threads do part by part, ahead of the one that takes the results in order. That one does a part
/// itself that is not begun yet: where all processors have other things to do, nothing waits for them.
package final class WorkAhead<Part: Sendable>: Sendable {
  private struct State {
    var isBegun = false
    var result: Result<Part, any Error>?
  }

  private let ranges: [Range<Int>]
  private let work: @Sendable (Range<Int>) throws -> Part
  private let states: Mutex<[State]>
  private let finished: [DispatchSemaphore]

  /// Begins a work.
  ///
  /// - Parameters:
  ///   - ranges: What each part is about.
  ///   - work: Does a part.
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

  /// Hands all parts over, in order.
  ///
  /// - Throws: What a part of the work threw, of several the first; and what `body` throws.
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
