// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

extension AuditRecord {
  /// Checks that an entry can hold the record, wherever it is placed, and returns its approximate size in bytes.
  func requireStorable() throws(AuditError) -> Int {
    // Almost all records are far below the limits, and need not be encoded to know it.
    let bound = EntryWriter.maximumByteCount(self)
    if bound > TrailLimits.entryByteCount || facts.hasEmptyText {
      // Every time before the year 2286 has at most as many digits.
      let latest = max(facts.time, 9_999_999_999_999)
      var bytes: [UInt8] = []
      do throws(MalformedEntry) {
        try AuditEntry.encode(
          self, time: latest, previous: TrailLimits.entries - 1,
          commitment: hasErasablePart ? SHA256Digest(of: []) : nil, limit: TrailLimits.entryByteCount,
          into: &bytes)
      } catch {
        throw AuditError(.invalidRecord, at: "entry", "\(error)")
      }
    }
    return bound + (try requireErasable())
  }

  /// The approximate size of the erasable part without the customer, in bytes.
  var erasableByteCount: Int { ErasablePart.headerByteCount + (receiptBytes?.count ?? 0) }

  /// Appends the record's erasable part, or nothing if the record has no erasable data.
  package func encodeErasablePart(salt: Span<UInt8>, into bytes: inout [UInt8]) throws(AuditError) {
    guard hasErasablePart else { return }
    _ = try requireErasable()
    ErasablePart.append(salt: salt, receipt: receiptBytes, customerToken: customerToken, to: &bytes)
  }

  /// Checks that an erasable part can hold the receipt and the customer, and returns its approximate size in bytes.
  private func requireErasable() throws(AuditError) -> Int {
    let token = customerToken?.utf8.count ?? 0
    guard token <= ErasablePart.maximumTokenByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The customer has \(token) bytes; at most \(ErasablePart.maximumTokenByteCount) are allowed.")
    }
    let byteCount = erasableByteCount + token
    guard byteCount <= TrailLimits.erasableByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The receipt and tokens are \(byteCount) bytes; at most \(TrailLimits.erasableByteCount) are kept.")
    }
    return byteCount
  }
}
