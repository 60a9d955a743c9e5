// SPDX-License-Identifier: Apache-2.0

/// What a queue tells those who watch it.
public enum PaymentQueueUpdate: Sendable, Hashable {
  /// Transactions as they are now: new ones, those whose state changed, and after a relaunch all that are not finished.
  case updated([PaymentTransaction])
  /// Transactions that left the queue, as they were. Their receipts are not with them any more.
  case removed([PaymentTransaction])
  /// All that a restoration gives was delivered before.
  case restoreFinished
  /// A restoration failed. What it had given until then was delivered before, and stays.
  case restoreFailed(StoreError)
  /// Downloads as they are now: their states and how much has come.
  case updatedDownloads([Download])
}
