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
        writer.write(literal: EntryFormat.header)
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

enum EntryFormat {
  /// The first line of an entry.
  static var header: StaticString { "receiptkit.dev/audit-entry@v2\n" }
  /// The first line of version 1, which no released version wrote.
  static var headerOfVersion1: StaticString { "receiptkit.dev/audit-entry@v1\n" }
}
