// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

extension AuditEntry {
  /// Appends the bytes of an entry to a buffer, which may be reused.
  ///
  /// - Parameters:
  ///   - records: The records. If the facts were passed alone, they would be copied with all their texts.
  ///   - number: The number of the record to encode.
  ///   - time: The time of the entry, which replaces that of the facts.
  ///   - previous: The index of the previous entry of the same original transaction.
  ///   - commitment: SHA-256 of the erasable part.
  ///   - buffer: The buffer to append to; unchanged if an error is thrown.
  /// - Throws: ``MalformedEntry``: `tooLong`, `outOfRange`, `emptyValue`.
  package static func encode(
    _ records: Span<AuditRecord>, _ number: Int, time: Int64, previous: UInt64?, commitment: SHA256Digest?,
    into buffer: inout [UInt8]
  ) throws(MalformedEntry) {
    let start = buffer.count
    let capacity = EntryWriter.maximumByteCount(records, number)
    if buffer.capacity - start < capacity {
      // Growing by half keeps a buffer of many entries from being copied again and again.
      buffer.reserveCapacity(max(start + capacity, buffer.capacity * 3 / 2))
    }
    var fault: MalformedEntry?
    buffer.append(addingCapacity: capacity) { output in
      unsafe output.withUnsafeMutableBufferPointer { memory, count in
        guard let first = memory.baseAddress else { return }
        var writer = unsafe EntryWriter(first, capacity: memory.count)
        writer.write(records, number, time: time, previous: previous, commitment: commitment)
        count = writer.count
        fault = writer.fault
      }
    }
    if fault == nil, buffer.count - start > maximumByteCount {
      fault = MalformedEntry(
        .tooLong, "The entry would be longer than \(maximumByteCount) bytes; an identifier is too long.")
    }
    if let fault {
      buffer.removeLast(buffer.count - start)
      throw fault
    }
  }
}

extension EntryWriter {
  /// Writes all lines, in the order of the format.
  mutating func write(
    _ records: Span<AuditRecord>, _ number: Int, time: Int64, previous: UInt64?, commitment: SHA256Digest?
  ) {
    write(literal: EntryFormat.header)
    guard time >= 0 else { return fail(.outOfRange, "An entry's time is not before 1970.") }
    line("time ", time)
    line("kind ", records[number].facts.kind.rawValue)
    line("id ", records[number].facts.id)
    line("format ", records[number].facts.format)
    line("notification ", records[number].facts.notification)
    line("subtype ", records[number].facts.subtype)
    line("receipt ", records[number].facts.receipt)
    line("encoding ", records[number].facts.encoding)
    line("transaction ", records[number].facts.transaction)
    line("original ", records[number].facts.original)
    line("product ", records[number].facts.product)
    line("bundle ", records[number].facts.bundle)
    line("environment ", records[number].facts.environment)
    line("expires ", records[number].facts.expires)
    line("revoked ", records[number].facts.revoked)
    switch records[number].facts.verdict {
    case .valid: write(literal: "verdict valid\n")
    case .invalid: write(literal: "verdict invalid\n")
    case .undetermined: write(literal: "verdict undetermined\n")
    case nil: break
    }
    line("reason ", records[number].facts.reason)
    line("signer ", records[number].facts.signer)
    line("root ", records[number].facts.root)
    line("policy ", records[number].facts.policy)
    for check in records[number].facts.checks {
      write(literal: "check ")
      write(check.name)
      write(UInt8(ascii: " "))
      write(check.answer.rawValue)
      write(UInt8(ascii: "\n"))
    }
    line("key ", records[number].facts.key)
    line("erased ", records[number].facts.erased)
    line("size ", records[number].facts.size)
    line("newest ", records[number].facts.newest)
    line("count ", records[number].facts.count)
    line("previous ", previous)
    line("commitment ", commitment)
  }
}

enum EntryFormat {
  /// The first line of an entry.
  static var header: StaticString { "receiptkit.dev/audit-entry@v2\n" }
  /// The first line of version 1, which no released version wrote.
  static var headerOfVersion1: StaticString { "receiptkit.dev/audit-entry@v1\n" }
}
