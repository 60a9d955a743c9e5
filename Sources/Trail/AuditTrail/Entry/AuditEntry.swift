// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

/// One entry of an audit trail: the leaf of its Merkle tree.
///
/// An entry consists of lines of text with only one spelling, so that equal entries have equal bytes and equal hashes.
/// The format is described in <doc:Entries>. The facts can be read directly: `entry.transaction` is
/// `entry.facts.transaction`.
@dynamicMemberLookup
public struct AuditEntry: Sendable, Hashable {
  /// The recorded facts.
  public var facts: EntryFacts
  /// The index of the previous entry of the same original transaction; `nil` for the first.
  package var previous: UInt64?
  /// SHA-256 of the erasable part (``ErasablePart/encoded``); `nil` if the entry never had one.
  package var commitment: SHA256Digest?

  /// The maximum length of an entry in bytes, which must fit 16 bits in a bundle.
  package static let maximumByteCount = 65535

  /// Creates an entry.
  package init(_ facts: EntryFacts, previous: UInt64? = nil, commitment: SHA256Digest? = nil) {
    self.facts = facts
    self.previous = previous
    self.commitment = commitment
  }

  /// Reads an entry.
  ///
  /// It accepts exactly what ``encoded()`` writes: each entry has only one spelling.
  ///
  /// - Throws: ``MalformedEntry``, with the line and the byte.
  package init(parsing bytes: [UInt8]) throws(MalformedEntry) { try self.init(parsing: bytes.span) }

  /// Reads an entry that is part of a larger buffer.
  package init(parsing bytes: Span<UInt8>) throws(MalformedEntry) {
    guard bytes.count <= Self.maximumByteCount else {
      throw MalformedEntry(.tooLong, "An entry has at most \(Self.maximumByteCount) bytes.")
    }
    var reader = EntryReader()
    try reader.header(in: bytes)
    try self.init(lines: &reader, in: bytes)
    try reader.end(in: bytes)
  }

  /// Reads a fact.
  public subscript<Value>(dynamicMember path: KeyPath<EntryFacts, Value>) -> Value { facts[keyPath: path] }

  /// Returns the bytes of the entry.
  ///
  /// - Throws: ``MalformedEntry`` if no entry can hold the facts: `tooLong`, `outOfRange`, `emptyValue`.
  package func encoded() throws(MalformedEntry) -> [UInt8] {
    let records = [AuditRecord(facts)]
    var bytes: [UInt8] = []
    try Self.encode(
      records.span, 0, time: facts.time, previous: previous, commitment: commitment, into: &bytes)
    return bytes
  }
}

/// A record to append: the facts, and the data that may have to be erased one day.
@dynamicMemberLookup
public struct AuditRecord: Sendable, Hashable {
  /// The facts, which are recorded permanently.
  package var facts: EntryFacts
  /// The receipt itself, without its wrapping.
  ///
  /// Erasable.
  package var receiptBytes: [UInt8]?
  /// The customer's identifier: `appAccountToken`, or the caller's own identifier.
  ///
  /// Erasable.
  package var customerToken: String?

  /// Creates a record.
  package init(_ facts: EntryFacts, receiptBytes: [UInt8]? = nil, customerToken: String? = nil) {
    self.facts = facts
    self.receiptBytes = receiptBytes
    self.customerToken = customerToken
  }

  /// Reads a fact.
  public subscript<Value>(dynamicMember path: KeyPath<EntryFacts, Value>) -> Value { facts[keyPath: path] }

  /// `true` if the record has erasable data, so that the entry has a commitment.
  package var hasErasablePart: Bool { receiptBytes != nil || customerToken != nil }
}
