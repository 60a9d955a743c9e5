// SPDX-License-Identifier: Apache-2.0

extension AuditLog: AuditLookup {
  /// The entries that name a purchase event, oldest first; of more than `limit` the newest.
  public func entries(transaction: String, limit: Int) async throws -> [EarlierEntry] {
    try await read { view in
      try Self.earlier(view.entries(transaction: transaction, limit: limit), view)
    }
  }

  /// The entries of an original transaction, oldest first; of more than `limit` the newest.
  public func entries(original: String, limit: Int) async throws -> [EarlierEntry] {
    try await read { view in try Self.earlier(view.history(original: original, limit: limit), view) }
  }

  /// The entries about a receipt, oldest first; of more than `limit` the newest.
  public func entries(receipt: SHA256Digest, limit: Int) async throws -> [EarlierEntry] {
    try await read { view in try Self.earlier(view.entries(receipt: receipt, limit: limit), view) }
  }

  private static func earlier(_ newestFirst: [RecordedEntry], _ view: TrailView) throws -> [EarlierEntry] {
    try newestFirst.reversed().map { recorded in
      EarlierEntry(
        index: recorded.index, entry: recorded.entry,
        customerToken: try view.erasablePart(at: recorded.index)?.customerToken)
    }
  }
}
