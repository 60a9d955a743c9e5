// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Work that is done on another thread while this one does something else.
///
/// If no other thread has begun the work when its result is needed, the thread that needs it does the work itself. So
/// nothing waits for a free thread if all are taken, as on a machine with one processor.
final class ConcurrentWork<Value: Sendable>: Sendable {
  private enum State {
    case planned(@Sendable () throws -> Value)
    case running
    case finished(Result<Value, any Error>)
  }

  private let state: Mutex<State>
  private let isFinished = DispatchSemaphore(value: 0)

  /// Starts the work as soon as a thread of the queue is free.
  init(on queue: DispatchQueue = .global(), _ work: @escaping @Sendable () throws -> Value) {
    state = Mutex(.planned(work))
    queue.async { [self] in doIfPlanned() }
  }

  /// Creates work that is already done.
  init(result: Result<Value, any Error>) { state = Mutex(.finished(result)) }

  /// Waits until the work is done, and returns its result.
  ///
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  func get() throws -> Value {
    doIfPlanned()
    while true {
      if case .finished(let result) = state.withLock({ $0 }) { return try result.get() }
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
