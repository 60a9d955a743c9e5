// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

#if THREAD_SANITIZER
  internal import ThreadSanitizing

  typealias Mutex = SanitizedMutex
#endif

/// A value that one of several tasks delivers, and that one task waits for.
package final class FirstResult<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case awaited(CheckedContinuation<Value, Never>)
    case delivered(Value)
  }

  private let state = Mutex<State>(.empty)

  package init() {}

  /// Delivers the value, unless another was first.
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

  /// The first value delivered. To be awaited once.
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

  /// The first value delivered. A task that is cancelled while it waits delivers one itself. To be awaited once.
  package func value(ifCancelled value: Value) async -> Value {
    await withTaskCancellationHandler {
      await self.value
    } onCancel: {
      deliver(value)
    }
  }
}

/// The result of an operation, or `nil` once the time is up or the task is cancelled.
///
/// It returns on time whatever the operation does: one that ignores its cancellation goes on by itself until it
/// ends, and its result is dropped.
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
