// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tasks of a test that wait for something to change. Cancelling ends the waiting, so that a test that waits in vain
/// fails at its time limit instead of going on for ever.
final class Watchers: @unchecked Sendable {
  private let lock = NSLock()
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  private var count = 0

  /// Waits for the next change. It stays where it is called from: an actor that has just looked misses none.
  func change(isolation: isolated (any Actor)? = #isolation) async throws {
    let number = lock.withLock {
      count += 1
      return count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isWaiting = lock.withLock {
          if Task.isCancelled { return false }
          waiting[number] = continuation
          return true
        }
        if !isWaiting { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let cancelled = lock.withLock { waiting.removeValue(forKey: number) }
      cancelled?.resume(throwing: CancellationError())
    }
  }

  /// Has everyone look again.
  func wake() {
    let woken = lock.withLock {
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in woken { continuation.resume() }
  }
}
