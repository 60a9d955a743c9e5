// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

extension AuditLog: AuditLookup {
  /// Returns the entries in a scope that name a purchase event, oldest first; if there are more than `limit`, the
  /// newest.
  package func entries(transaction: String, in scope: PurchaseScope, limit: Int) async throws
    -> [EarlierEntry]
  {
    try await read { view in
      try Self.oldestFirst(view.entries(transaction: transaction, in: scope, limit: limit))
    }
  }

  /// Returns the entries in a scope of an original transaction, oldest first; if there are more than `limit`, the
  /// newest.
  package func entries(original: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry] {
    try await read { view in
      try Self.oldestFirst(view.history(original: original, in: scope, limit: limit))
    }
  }

  /// Returns the entries about a receipt, oldest first; if there are more than `limit`, the newest.
  package func entries(receipt: SHA256Digest, limit: Int) async throws -> [EarlierEntry] {
    try await read { view in try Self.oldestFirst(view.entries(receipt: receipt, limit: limit)) }
  }

  /// Returns the customer of an entry; `nil` if no customer was recorded, or it was erased.
  package func customer(at index: UInt64) async throws -> String? {
    try await read { view in try view.erasablePart(at: index)?.customerToken }
  }

  private static func oldestFirst(_ newestFirst: [RecordedEntry]) -> [EarlierEntry] {
    newestFirst.reversed().map { EarlierEntry(index: $0.index, entry: $0.entry) }
  }
}
