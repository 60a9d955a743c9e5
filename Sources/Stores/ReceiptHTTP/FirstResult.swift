// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if THREAD_SANITIZER
  internal import Locking

  typealias Mutex = PosixMutex
#endif

/// A value that one of several tasks delivers and one task awaits.
package final class FirstResult<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case awaited(CheckedContinuation<Value, Never>)
    case delivered(Value)
  }

  private let state = Mutex<State>(.empty)

  package init() {}

  /// Delivers the value, unless another one was delivered before.
  package func deliver(_ value: Value) {
    let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
      switch state {
      case .empty:
        state = .delivered(value)
        return nil
      case .awaited(let continuation):
        state = .delivered(value)
        return continuation
      case .delivered: return nil
      }
    }
    waiting?.resume(returning: value)
  }

  /// The first value delivered; await it only once.
  package var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let delivered: Value? = state.withLock { state in
          if case .delivered(let value) = state { return value }
          state = .awaited(continuation)
          return nil
        }
        if let delivered { continuation.resume(returning: delivered) }
      }
    }
  }

  /// Returns the first value delivered; if the waiting task is cancelled, it delivers `value` itself. Call it only
  /// once.
  package func value(ifCancelled value: Value) async -> Value {
    await withTaskCancellationHandler {
      await self.value
    } onCancel: {
      deliver(value)
    }
  }
}

/// Returns the result of an operation; `nil` if the time limit passes or the task is cancelled before. It returns on
/// time even if the operation ignores its cancellation. Such an operation runs on until it ends, and its result is
/// dropped.
package func value<Value: Sendable>(
  within limit: Duration, time: RemoteTime, _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
  let first = FirstResult<Value?>()
  let work = Task { first.deliver(await operation()) }
  let timer = Task {
    do { try await time.sleep(limit) } catch { return }
    first.deliver(nil)
  }
  let result = await first.value(ifCancelled: nil)
  work.cancel()
  timer.cancel()
  return result
}
