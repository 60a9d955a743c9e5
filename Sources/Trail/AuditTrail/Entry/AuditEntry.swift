// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// One entry of an audit trail: the leaf of its Merkle tree.
///
/// An entry is text in lines, in one spelling only, so that equal entries have equal bytes and equal hashes; the
/// format is in <doc:Entries>. The facts can be read directly: `entry.transaction` is `entry.facts.transaction`.
@dynamicMemberLookup
public struct AuditEntry: Sendable, Hashable {
  /// The record.
  public var facts: EntryFacts
  /// The index of the previous entry of the same original transaction; absent for the first.
  public var previous: UInt64?
  /// SHA-256 of the erasable part (``ErasablePart/encoded``); absent if the entry never had one.
  public var commitment: SHA256Digest?

  /// The longest entry, in bytes: its length must fit 16 bits in a bundle.
  public static let maximumByteCount = 65535

  /// Creates an entry.
  public init(_ facts: EntryFacts, previous: UInt64? = nil, commitment: SHA256Digest? = nil) {
    self.facts = facts
    self.previous = previous
    self.commitment = commitment
  }

  /// Reads a fact.
  public subscript<Value>(dynamicMember path: KeyPath<EntryFacts, Value>) -> Value { facts[keyPath: path] }

  /// The bytes of the entry.
  ///
  /// - Throws: ``MalformedEntry`` for facts that no entry can hold: `tooLong`, `outOfRange`, `emptyValue`.
  public func encoded() throws(MalformedEntry) -> [UInt8] {
    let records = [AuditRecord(facts)]
    var bytes: [UInt8] = []
    try Self.encode(
      records.span, 0, time: facts.time, previous: previous, commitment: commitment, into: &bytes)
    return bytes
  }
}

/// The record of a caller: the facts, and the part that may have to be erased some day.
@dynamicMemberLookup
public struct AuditRecord: Sendable, Hashable {
  /// The facts, recorded permanently.
  public var facts: EntryFacts
  /// The receipt itself, its wrapping removed. Erasable.
  public var receiptBytes: [UInt8]?
  /// The customer: `appAccountToken`, or the caller's own identifier. Erasable.
  public var customerToken: String?

  /// Creates a record.
  public init(_ facts: EntryFacts, receiptBytes: [UInt8]? = nil, customerToken: String? = nil) {
    self.facts = facts
    self.receiptBytes = receiptBytes
    self.customerToken = customerToken
  }

  /// Reads a fact.
  public subscript<Value>(dynamicMember path: KeyPath<EntryFacts, Value>) -> Value { facts[keyPath: path] }

  /// Indicates whether there is anything erasable, so that the entry has a commitment.
  public var hasErasablePart: Bool { receiptBytes != nil || customerToken != nil }
}
