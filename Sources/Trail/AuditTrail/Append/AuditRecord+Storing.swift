// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

extension AuditRecord {
  /// Checks that an entry can hold each of the records, wherever it is placed in the trail.
  ///
  /// - Returns: The approximate size of the records, in bytes.
  /// - Throws: ``AuditError/Code/invalidRecord``.
  static func requireStorable(_ records: Span<AuditRecord>) throws(AuditError) -> Int {
    var byteCount = 0
    for number in records.indices {
      // Almost all records are far below the limits, and need not be encoded to know it.
      let bound = EntryWriter.maximumByteCount(records, number)
      // Not an operand of `||`: the optimizer of Swift 6.3.1 crashes if a closure captures a span.
      let hasEmptyText = records[number].facts.hasEmptyText
      if bound > TrailLimits.entryByteCount || hasEmptyText {
        try requireEntry(records, number)
      }
      let erasable = try erasableByteCount(records, number)
      byteCount += bound + erasable
    }
    return byteCount
  }

  /// Encodes the entry at its maximum length.
  private static func requireEntry(_ records: Span<AuditRecord>, _ number: Int) throws(AuditError) {
    var bytes: [UInt8] = []
    do throws(MalformedEntry) {
      try AuditEntry.encode(
        records, number, time: max(records[number].facts.time, latestTime), previous: TrailLimits.entries - 1,
        commitment: records[number].hasErasablePart ? SHA256Digest(of: []) : nil, into: &bytes)
    } catch {
      throw AuditError(.invalidRecord, at: "entry", "\(error)")
    }
    guard bytes.count <= TrailLimits.entryByteCount else {
      throw AuditError(
        .invalidRecord, at: "entry",
        "The entry would have \(bytes.count) bytes; at most \(TrailLimits.entryByteCount) are allowed.")
    }
  }

  /// A time in the year 2286.
  ///
  /// Every earlier time has at most as many digits.
  private static let latestTime: Int64 = 9_999_999_999_999

  private static func erasableByteCount(
    _ records: Span<AuditRecord>, _ number: Int
  ) throws(AuditError) -> Int {
    let token = records[number].customerToken?.utf8.count ?? 0
    guard token <= ErasablePart.maximumTokenByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The customer has \(token) bytes; at most \(ErasablePart.maximumTokenByteCount) are allowed.")
    }
    let byteCount = ErasablePart.headerByteCount + token + (records[number].receiptBytes?.count ?? 0)
    guard byteCount <= TrailLimits.erasableByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The receipt and tokens are \(byteCount) bytes; at most \(TrailLimits.erasableByteCount) are kept.")
    }
    return byteCount
  }
}
