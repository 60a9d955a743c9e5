// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tasks of a test that wait for a change. Cancelling ends the waiting, so that a test whose change never comes fails
/// at its time limit.
final class Watchers: @unchecked Sendable {
  private let lock = NSLock()
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  private var count = 0

  /// Waits for the next change. It runs on the caller's actor, so that an actor that has just checked misses no change.
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

  /// Resumes all waiting tasks.
  func wake() {
    let woken = lock.withLock {
      defer { waiting = [:] }
      return waiting.values
    }
    for continuation in woken { continuation.resume() }
  }
}
