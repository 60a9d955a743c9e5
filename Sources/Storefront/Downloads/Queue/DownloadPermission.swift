// SPDX-License-Identifier: Apache-2.0

/// What downloads ask of whoever has the transactions.
package protocol DownloadPermission: Sendable {
  /// The content of a transaction that is purchased or restored, and not finished; `nil` for any other.
  func content(
    of transaction: PaymentTransaction.ID
  ) async throws(DownloadError) -> [DownloadableContent]?

  /// Takes downloads as they are now. Calls come one after the other.
  func downloadsChanged(_ downloads: [Download]) async
}
