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

  package init(_ facts: EntryFacts, previous: UInt64? = nil, commitment: SHA256Digest? = nil) {
    self.facts = facts
    self.previous = previous
    self.commitment = commitment
  }

  /// Reads an entry; it accepts exactly what ``encoded()`` writes, since each entry has only one spelling.
  package init(parsing bytes: [UInt8]) throws(MalformedEntry) { try self.init(parsing: bytes.span) }

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

  /// Returns the bytes of the entry, or throws if no entry can hold the facts: `tooLong`, `outOfRange`, `emptyValue`.
  package func encoded() throws(MalformedEntry) -> [UInt8] {
    var bytes: [UInt8] = []
    try Self.encode(
      AuditRecord(facts), time: facts.time, previous: previous, commitment: commitment, into: &bytes)
    return bytes
  }
}

/// A record to append: the facts, and the data that may have to be erased one day.
///
/// Copies share the values, so that a record is passed from function to function without copying its many texts.
@dynamicMemberLookup
public struct AuditRecord: Sendable, Hashable {
  private struct Values: Sendable, Hashable {
    var facts: EntryFacts
    var receiptBytes: [UInt8]?
    var customerToken: String?
  }

  private final class Shared: Sendable {
    let values: Values

    init(_ values: Values) { self.values = values }
  }

  private var shared: Shared

  /// The facts, which are recorded permanently.
  package var facts: EntryFacts {
    get { shared.values.facts }
    set { change { $0.facts = newValue } }
  }

  /// The receipt itself, without its wrapping; erasable.
  package var receiptBytes: [UInt8]? {
    get { shared.values.receiptBytes }
    set { change { $0.receiptBytes = newValue } }
  }

  /// The customer's identifier, which is erasable: `appAccountToken`, or the caller's own identifier.
  package var customerToken: String? {
    get { shared.values.customerToken }
    set { change { $0.customerToken = newValue } }
  }

  package init(_ facts: EntryFacts, receiptBytes: [UInt8]? = nil, customerToken: String? = nil) {
    shared = Shared(Values(facts: facts, receiptBytes: receiptBytes, customerToken: customerToken))
  }

  private mutating func change(_ body: (inout Values) -> Void) {
    var values = shared.values
    body(&values)
    shared = Shared(values)
  }

  /// Returns `true` if both records have the same facts and erasable data.
  public static func == (left: AuditRecord, right: AuditRecord) -> Bool {
    left.shared.values == right.shared.values
  }

  /// Hashes the facts and the erasable data.
  public func hash(into hasher: inout Hasher) { hasher.combine(shared.values) }

  /// Reads a fact.
  public subscript<Value>(dynamicMember path: KeyPath<EntryFacts, Value>) -> Value { facts[keyPath: path] }

  /// `true` if the record has erasable data, so that the entry has a commitment.
  package var hasErasablePart: Bool { receiptBytes != nil || customerToken != nil }
}

extension AuditEntry {
  /// Appends an entry of at most `limit` bytes, with its own time, to a buffer, which is unchanged after an error.
  package static func encode(
    _ record: AuditRecord, time: Int64, previous: UInt64?, commitment: SHA256Digest?,
    limit: Int = maximumByteCount, into buffer: inout [UInt8]
  ) throws(MalformedEntry) {
    let start = buffer.count
    let capacity = EntryWriter.maximumByteCount(record)
    if buffer.capacity - start < capacity {
      // Growing by half keeps a buffer of many entries from being copied again and again.
      buffer.reserveCapacity(max(start + capacity, buffer.capacity * 3 / 2))
    }
    var fault: MalformedEntry?
    buffer.append(addingCapacity: capacity) { output in
      unsafe output.withUnsafeMutableBufferPointer { memory, count in
        guard let first = memory.baseAddress else { return }
        var writer = unsafe EntryWriter(first, capacity: memory.count)
        writer.write(literal: EntryFormat.header)
        writer.write(record, time: time, previous: previous, commitment: commitment)
        count = writer.count
        fault = writer.fault
      }
    }
    if fault == nil, buffer.count - start > limit {
      fault = MalformedEntry(
        .tooLong, "The entry would have \(buffer.count - start) bytes; at most \(limit) are allowed.")
    }
    if let fault {
      buffer.removeLast(buffer.count - start)
      throw fault
    }
  }
}

enum EntryFormat {
  static var header: StaticString { "receiptkit.dev/audit-entry@v2\n" }
  /// The first line of version 1, which no released version wrote.
  static var headerOfVersion1: StaticString { "receiptkit.dev/audit-entry@v1\n" }
}
