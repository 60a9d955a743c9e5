// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

extension AuditLog {
  /// Reads a snapshot of the trail.
  ///
  /// It is at least as new as the last append of this process, and as everything that other processes wrote before the
  /// call.
  ///
  /// - Throws: ``AuditError``, and the errors of `body`.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (TrailView) throws -> Result
  ) async throws -> Result {
    try await reader.read(body)
  }

  /// Reads a snapshot of the trail, and blocks the thread; in a task, call ``read(_:)``.
  public func withView<Result>(_ body: (TrailView) throws -> Result) throws -> Result {
    try reader.withView(body)
  }

  /// Returns the entries of an original transaction, newest first, read in pages as they are requested.
  ///
  /// Entries that are appended meanwhile are not included.
  ///
  /// - Parameter original: The original transaction's identifier.
  /// - Returns: The entries.
  public func history(original: String) -> EntryHistory { EntryHistory(reader, original: original) }

  /// Returns the size of the trail.
  ///
  /// - Throws: ``AuditError``, ``StorageError``.
  public func statistics() throws -> TrailStatistics { try reader.statistics() }
}

extension AuditLog: AuditLookup {
  /// Returns the entries in a scope that name a purchase event, oldest first; if there are more than `limit`, the
  /// newest.
  public func entries(transaction: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry]
  {
    try await read {
      EarlierEntry.oldestFirst(try $0.entries(transaction: transaction, in: scope, limit: limit))
    }
  }

  /// Returns the entries in a scope of an original transaction, oldest first; if there are more than `limit`, the
  /// newest.
  public func entries(original: String, in scope: PurchaseScope, limit: Int) async throws -> [EarlierEntry] {
    try await read { EarlierEntry.oldestFirst(try $0.history(original: original, in: scope, limit: limit)) }
  }

  /// Returns the entries about a receipt, oldest first; if there are more than `limit`, the newest.
  public func entries(receipt: SHA256Digest, limit: Int) async throws -> [EarlierEntry] {
    try await read { EarlierEntry.oldestFirst(try $0.entries(receipt: receipt, limit: limit)) }
  }

  /// Returns the customer of an entry; `nil` if no customer was recorded, or it was erased.
  public func customer(at index: UInt64) async throws -> String? {
    try await read { try $0.erasablePart(at: index)?.customerToken }
  }
}
