// SPDX-License-Identifier: Apache-2.0

/// Whose turn it is to ask the store. One question is asked at a time, and its answer applied before the next: so no
/// list of sales that is on its way is older than a finish that the store was told of meanwhile.
struct StoreConversation {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Takes the turn if nobody has it.
  mutating func takeIfFree() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

  /// Hands the turn to the longest waiter.
  mutating func end() {
    if waiting.isEmpty {
      isTaken = false
    } else {
      waiting.removeFirst().resume()
    }
  }
}

extension PaymentQueue {
  /// Asks the store one thing and applies the answer, when it is this one's turn.
  func inTurn<Result>(
    _ body: () async throws(SynchronizationFault) -> Result
  ) async throws(SynchronizationFault) -> Result {
    if !conversation.takeIfFree() {
      await withCheckedContinuation { conversation.wait($0) }
    }
    defer { conversation.end() }
    return try await body()
  }
}

/// Why a request to the store has no answer.
enum SynchronizationFault: Error {
  case store(StoreUnavailable)
  case queue(PaymentQueueError)
}
