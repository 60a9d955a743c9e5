// SPDX-License-Identifier: Apache-2.0

import Storefront

/// The reported downloads, and the tasks that wait for more. Cancelling ends the waiting, so that a test whose download
/// never comes fails at its time limit.
actor DownloadNews {
  private(set) var history: [Download] = []
  private var waiting: [Int: Waiter] = [:]
  private var count = 0

  private struct Waiter {
    let isMet: @Sendable (Download) -> Bool
    let continuation: CheckedContinuation<Download, any Error>
  }

  func note(_ downloads: [Download]) {
    history += downloads
    for download in downloads {
      for (number, waiter) in waiting where waiter.isMet(download) {
        waiting[number] = nil
        waiter.continuation.resume(returning: download)
      }
    }
  }

  /// The first reported download, now or before, that meets a condition.
  func first(where isMet: @escaping @Sendable (Download) -> Bool) async throws -> Download {
    if let met = history.first(where: isMet) { return met }
    count += 1
    let number = count
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if Task.isCancelled {
          continuation.resume(throwing: CancellationError())
        } else {
          waiting[number] = Waiter(isMet: isMet, continuation: continuation)
        }
      }
    } onCancel: {
      Task { await self.giveUp(number) }
    }
  }

  private func giveUp(_ number: Int) {
    waiting.removeValue(forKey: number)?.continuation.resume(throwing: CancellationError())
  }

  func forget() { history = [] }
}
