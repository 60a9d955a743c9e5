// SPDX-License-Identifier: Apache-2.0

/// A fair asynchronous lock around requests to the store. The answer to a request is applied before the next request is
/// sent, so that no list of sales in flight is older than a finish that was sent meanwhile.
struct StoreRequestLock {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Takes the lock if it is free.
  mutating func takeIfFree() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

  /// Releases the lock to the longest waiter.
  mutating func end() {
    if waiting.isEmpty {
      isTaken = false
    } else {
      waiting.removeFirst().resume()
    }
  }
}

extension PaymentQueue {
  /// Sends one request and applies its answer while holding the lock.
  func withRequestLock<Result>(
    _ body: () async throws(SynchronizationFault) -> Result
  ) async throws(SynchronizationFault) -> Result {
    if !requestLock.takeIfFree() {
      await withCheckedContinuation { requestLock.wait($0) }
    }
    defer { requestLock.end() }
    return try await body()
  }
}

/// Why synchronization failed.
enum SynchronizationFault: Error {
  case store(StoreUnavailable)
  case queue(PaymentQueueError)
}
