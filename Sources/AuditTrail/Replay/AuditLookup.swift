// SPDX-License-Identifier: Apache-2.0

/// An entry with its place in a trail.
public struct RecordedEntry: Sendable, Hashable {
  /// The entry's index; the first one is 0.
  public let index: UInt64
  /// The entry.
  public let entry: AuditEntry
  /// The erasable part; `nil` where there never was one, or it was erased.
  public let erasablePart: ErasablePart?

  /// Creates one.
  public init(index: UInt64, entry: AuditEntry, erasablePart: ErasablePart?) {
    self.index = index
    self.entry = entry
    self.erasablePart = erasablePart
  }
}

/// What a trail must be able to answer so that replays are noticed.
public protocol AuditLookup: Sendable {
  /// The entries that name a purchase event, oldest first.
  ///
  /// - Parameters:
  ///   - transaction: The transaction identifier, compared byte for byte.
  ///   - limit: The most entries to return.
  /// - Returns: The entries, oldest first.
  /// - Throws: Where the trail cannot be read.
  func entries(transaction: String, limit: Int) async throws -> [RecordedEntry]

  /// The entries of an original transaction, oldest first.
  ///
  /// - Parameters:
  ///   - original: The original transaction identifier, compared byte for byte.
  ///   - limit: The most entries to return.
  /// - Returns: The entries, oldest first.
  /// - Throws: Where the trail cannot be read.
  func entries(original: String, limit: Int) async throws -> [RecordedEntry]

  /// The entries about a receipt, oldest first.
  ///
  /// - Parameters:
  ///   - receipt: SHA-256 of the receipt, its wrapping removed.
  ///   - limit: The most entries to return.
  /// - Returns: The entries, oldest first.
  /// - Throws: Where the trail cannot be read.
  func entries(receipt: SHA256Digest, limit: Int) async throws -> [RecordedEntry]
}
