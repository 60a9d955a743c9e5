// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// An earlier presentation of a purchase, as the trail records it.
public struct EarlierEntry: Sendable, Hashable {
  /// The entry's index; the first one of the trail is 0.
  public let index: UInt64
  /// The entry.
  public let entry: AuditEntry

  /// Creates one.
  public init(index: UInt64, entry: AuditEntry) {
    self.index = index
    self.entry = entry
  }
}

/// What a trail must be able to answer so that replays are noticed. Identifiers are compared byte for byte, and mean
/// nothing without their scope: return only entries that it may contain (``PurchaseScope/mayContain(_:)``).
public protocol AuditLookup: Sendable {
  /// The entries in a scope that name a purchase event, oldest first; of more than `limit` the newest.
  func entries(transaction: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry]

  /// The entries in a scope of an original transaction, oldest first; of more than `limit` the newest.
  func entries(original: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry]

  /// The entries about a receipt, by what they state as ``EntryFacts/receipt``, oldest first; of more than `limit` the
  /// newest.
  func entries(receipt: SHA256Digest, limit: Int) async throws -> [EarlierEntry]

  /// The customer of an entry; `nil` if none was recorded, or it was erased.
  func customer(at index: UInt64) async throws -> String?
}
