// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

/// The record of an earlier presentation of a purchase.
package struct EarlierEntry: Sendable, Hashable {
  /// The entry's index; the first one of the trail is 0.
  package let index: UInt64
  /// The entry.
  package let entry: AuditEntry

  /// Creates an earlier entry.
  package init(index: UInt64, entry: AuditEntry) {
    self.index = index
    self.entry = entry
  }

  static func oldestFirst(_ newestFirst: [RecordedEntry]) -> [EarlierEntry] {
    newestFirst.reversed().map { EarlierEntry(index: $0.index, entry: $0.entry) }
  }
}

/// The lookups that a trail must support for replays to be detected.
///
/// Identifiers are compared byte for byte, and are unique only within their scope: return only entries that the scope
/// may contain (``PurchaseScope/mayContain(_:)``).
package protocol AuditLookup: Sendable {
  /// Returns the entries in a scope that name a purchase event, oldest first; if there are more than `limit`, the
  /// newest.
  func entries(transaction: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry]

  /// Returns the entries in a scope of an original transaction, oldest first; if there are more than `limit`, the
  /// newest.
  func entries(original: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry]

  /// Returns the entries that state a receipt as ``EntryFacts/receipt``, oldest first; if there are more than `limit`,
  /// the newest.
  func entries(receipt: SHA256Digest, limit: Int) async throws -> [EarlierEntry]

  /// Returns the customer of an entry; `nil` if no customer was recorded, or it was erased.
  func customer(at index: UInt64) async throws -> String?
}
