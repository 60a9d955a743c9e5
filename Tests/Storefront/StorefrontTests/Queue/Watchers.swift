// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Tasks of a test that wait for a change. Cancelling ends the waiting, so that a test whose change never comes fails
/// at its time limit.
final class Watchers: @unchecked Sendable {
  private let lock = NSLock()
  private var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
  private var count = 0
  private var changeCount = 0

  /// The number of changes; read it before looking whether one is still to be waited for.
  var changes: Int { lock.withLock { changeCount } }

  /// Waits for the first change after a number of them, and returns at once if it has come already.
  func change(after seen: Int) async throws {
    let number = lock.withLock {
      count += 1
      return count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = lock.withLock {
          if Task.isCancelled { return .failure(CancellationError()) }
          if changeCount != seen { return .success(()) }
          waiting[number] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
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
      changeCount += 1
      return waiting.values
    }
    for continuation in woken { continuation.resume() }
  }
}
