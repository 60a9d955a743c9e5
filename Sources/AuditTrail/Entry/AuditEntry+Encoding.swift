// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

extension AuditEntry {
  /// Appends the bytes of an entry to a buffer, which may be used again and again.
  ///
  /// - Parameters:
  ///   - facts: What is recorded.
  ///   - time: The time of the entry, in place of that of the facts.
  ///   - previous: The index of the previous entry of the same original transaction.
  ///   - commitment: SHA-256 of the erasable part.
  ///   - buffer: Where the entry is appended; unchanged where an error is thrown.
  /// - Throws: ``MalformedEntry``: `tooLong`, `outOfRange`, `emptyValue`.
  package static func encode(
    _ facts: borrowing EntryFacts, time: Int64, previous: UInt64?, commitment: SHA256Digest?,
    into buffer: inout [UInt8]
  ) throws(MalformedEntry) {
    let start = buffer.count
    let capacity = EntryWriter.maximumByteCount(facts)
    if buffer.capacity - start < capacity {
      // Growing by halves keeps many entries in one buffer from being copied over and over.
      buffer.reserveCapacity(max(start + capacity, buffer.capacity * 3 / 2))
    }
    var fault: MalformedEntry?
    buffer.append(addingCapacity: capacity) { output in
      unsafe output.withUnsafeMutableBufferPointer { memory, count in
        guard let first = memory.baseAddress else { return }
        var writer = unsafe EntryWriter(first, capacity: memory.count)
        writer.write(facts, time: time, previous: previous, commitment: commitment)
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
  /// All lines, in the order of the format.
  mutating func write(
    _ facts: borrowing EntryFacts, time: Int64, previous: UInt64?, commitment: SHA256Digest?
  ) {
    write(literal: EntryFormat.header)
    guard time >= 0 else { return fail(.outOfRange, "An entry's time is not before 1970.") }
    line("time ", time)
    line("kind ", facts.kind.rawValue)
    line("id ", facts.id)
    line("format ", facts.format)
    line("notification ", facts.notification)
    line("subtype ", facts.subtype)
    line("receipt ", facts.receipt)
    line("encoding ", facts.encoding)
    line("transaction ", facts.transaction)
    line("original ", facts.original)
    line("product ", facts.product)
    line("bundle ", facts.bundle)
    line("environment ", facts.environment)
    line("expires ", facts.expires)
    line("revoked ", facts.revoked)
    switch facts.verdict {
    case .valid: write(literal: "verdict valid\n")
    case .invalid: write(literal: "verdict invalid\n")
    case .undetermined: write(literal: "verdict undetermined\n")
    case nil: break
    }
    line("reason ", facts.reason)
    line("signer ", facts.signer)
    line("root ", facts.root)
    line("policy ", facts.policy)
    for check in facts.checks {
      write(literal: "check ")
      write(check.name)
      write(UInt8(ascii: " "))
      write(check.answer.rawValue)
      write(UInt8(ascii: "\n"))
    }
    line("key ", facts.key)
    line("erased ", facts.erased)
    line("size ", facts.size)
    line("newest ", facts.newest)
    line("count ", facts.count)
    line("previous ", previous)
    line("commitment ", commitment)
  }
}

enum EntryFormat {
  /// The first line.
  static var header: StaticString { "receiptkit.dev/audit-entry@v2\n" }
  /// The first line of version 1, which no released version wrote.
  static var headerOfVersion1: StaticString { "receiptkit.dev/audit-entry@v1\n" }
}
