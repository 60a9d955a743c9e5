// SPDX-License-Identifier: Apache-2.0

/// The keys of a trail's erasable parts, apart from the trail, which a backup needs to become a whole trail again.
///
/// Anyone with both can read data that was erased after they were made. Keep the keys apart from backups, and only for
/// as long as a backup may bring erased data back. A file of keys is the header and the rows of the table `keys` in
/// order.
package struct ErasureKeyBackup: Sendable {
  private static let header = Array("receiptkit.dev/audit-trail-keys@v1\n".utf8)
  private let rows: [[UInt8]]

  /// Copies the keys that a trail holds; throws ``AuditError/Code/keysMissing`` if it holds none.
  package init(reading reader: any StorageReader) throws {
    var rows: [[UInt8]] = []
    try reader.forEach(.keys, in: 0...Int64.max) { _, row in
      rows.append(row)
      return true
    }
    guard !rows.isEmpty else { throw ErasureKeys.missing }
    self.rows = rows
  }

  package init(parsing file: [UInt8]) throws(AuditError) {
    let body = file.dropFirst(Self.header.count)
    guard file.starts(with: Self.header), !body.isEmpty, body.count.isMultiple(of: WrappingKeys.rowByteCount)
    else {
      throw AuditError(
        .invalidRecord, at: "keys",
        "The file holds no keys of a trail, or not all of them; give another copy.")
    }
    rows = stride(from: body.startIndex, to: body.endIndex, by: WrappingKeys.rowByteCount).map {
      Array(body[$0..<$0 + WrappingKeys.rowByteCount])
    }
  }

  package var encoded: [UInt8] { rows.reduce(into: Self.header) { $0 += $1 } }

  /// Puts the keys into a trail that holds none, after reading every entry; if it throws, no keys were put in.
  ///
  /// ``AuditError/Code/wrongKey`` means that these are not the keys that the trail was copied without: they do not open
  /// its rows, lack the key of a part that nobody erased, or open a part whose erasure an entry records.
  package func restore(to storage: any TrailStorage) throws {
    try storage.write { writer in
      guard try !ErasureKeys.arePresent(in: writer) else {
        throw AuditError(.alreadyExists, at: "keys", "The trail holds keys already; nothing was changed.")
      }
      for (number, row) in rows.enumerated() { try writer.put(.keys, Int64(number), row) }
      var keys = ErasureKeys(writer)
      do {
        _ = try keys.checkRows()
        var agreement = ErasureAgreement(writer)
        let isWhole = try StoredRows(reader: writer).forEachReadable { try agreement.add($1.entry, at: $0) }
        try agreement.require(isWhole: isWhole)
      } catch let error as AuditError {
        throw AuditError(
          .wrongKey, at: error.place,
          "These are not the keys that belong to this copy; give those that were written with it. \(error.message)"
        )
      }
    }
  }
}
