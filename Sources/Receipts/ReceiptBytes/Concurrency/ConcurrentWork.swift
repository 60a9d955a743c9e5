// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Work that is done on another thread while this one does something else. If no other thread has begun the work when
/// its result is needed, the thread that needs it does the work itself. So nothing waits for a free thread if all are
/// taken, as on a machine with one processor.
package final class ConcurrentWork<Value: Sendable>: Sendable {
  private enum State {
    case planned(@Sendable () throws -> Value)
    case running
    case finished(Result<Value, any Error>)
    case taken
  }

  private let state: Mutex<State>
  private let isFinished = DispatchSemaphore(value: 0)

  private init(_ state: sending State) { self.state = Mutex(state) }

  /// Starts the work as soon as a thread is free.
  package convenience init(_ work: @escaping @Sendable () throws -> Value) {
    self.init(on: .global(), work)
  }

  /// Starts the work as soon as a thread of the queue is free.
  convenience init(on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value) {
    self.init(.planned(work))
    queue.async { [self] in doIfPlanned() }
  }

  /// Creates work that is already done.
  package convenience init(result: Result<Value, any Error>) { self.init(.finished(result)) }

  /// Starts work in parts, which other threads do ahead of the thread that takes the results in order.
  package static func parts(
    _ ranges: [Range<Int>], _ work: @escaping @Sendable (Range<Int>) throws -> Value
  ) -> [ConcurrentWork] {
    let parts = ranges.map { range in ConcurrentWork(.planned { try work(range) }) }
    for _ in 0..<max(0, min(parts.count, AllProcessors.count) - 1) {
      DispatchQueue.global().async { for part in parts { part.doIfPlanned() } }
    }
    return parts
  }

  /// Waits until the work is done, and returns its result, which is not kept; call it once.
  ///
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  package func take() throws -> Value {
    doIfPlanned()
    while true {
      let result: Result<Value, any Error>? = state.withLock { state in
        switch state {
        case .planned, .running: return nil
        case .finished(let result):
          state = .taken
          return result
        case .taken: preconditionFailure("The result was taken before.")
        }
      }
      if let result { return try result.get() }
      // Another thread is doing the work.
      isFinished.wait()
    }
  }

  private func doIfPlanned() {
    let work: (@Sendable () throws -> Value)? = state.withLock { state in
      guard case .planned(let work) = state else { return nil }
      state = .running
      return work
    }
    guard let work else { return }
    let result = Result { try work() }
    state.withLock { $0 = .finished(result) }
    isFinished.signal()
  }
}
