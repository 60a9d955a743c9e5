// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto

/// A record with everything that can be computed before its turn: its fingerprints, the size of its erasable part, and
/// the related entries that the runs of the index contain.
///
/// So one batch is prepared while another is stored.
final class PreparedRecord: Sendable {
  /// The facts to record.
  ///
  /// They are read in place: a copy would copy all their texts.
  var facts: EntryFacts {
    _read { yield source.records[number].facts }
  }
  private let source: Source
  private let number: Int
  let fingerprints: EntryFingerprints
  /// The related entries in the runs; `nil` if they were not looked up yet.
  let inRuns: RunsLookup.Answer?

  private init(
    _ source: Source, _ number: Int, _ fingerprints: EntryFingerprints, inRuns: RunsLookup.Answer?
  ) {
    self.source = source
    self.number = number
    self.fingerprints = fingerprints
    self.inRuns = inRuns
  }

  /// The records that arrived together.
  ///
  /// Each preparing thread has an instance of its own: otherwise all threads would contend for one reference count.
  private final class Source: Sendable {
    let records: [AuditRecord]

    init(_ records: [AuditRecord]) { self.records = records }
  }

  /// Prepares records, on all processors if there are many.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - key: The key that fingerprints are computed with.
  ///   - runs: Looks records up; if it is `nil`, they are looked up later.
  /// - Returns: The records, in order.
  static func prepare(_ records: [AuditRecord], _ key: IndexKey, lookingUpIn runs: RunsLookup? = nil)
    -> [PreparedRecord]
  {
    let fingerprints = AllProcessors.map(records.count) { range in
      let records = records.span
      return range.map { EntryFingerprints(records, $0, key) }
    }
    // In the order of the runs, so that a page is read once for all records that have neighbours in it.
    let order = records.indices.map {
      IndexRecord(fingerprint: fingerprints[$0].original ?? 0, index: UInt64($0))
    }.sortedByFingerprint().map { Int($0.index) }
    let prepared = AllProcessors.map(records.count) { range in
      let numbers = order[range]
      let answers = runs?.answers(numbers, of: records, fingerprints)
      let source = Source(records)
      return zip(numbers, 0..<range.count).map { number, position in
        PreparedRecord(source, number, fingerprints[number], inRuns: answers?[position])
      }
    }
    var places = order
    for (place, number) in order.enumerated() { places[number] = place }
    return places.map { prepared[$0] }
  }
}

extension PreparedRecord {
  /// Runs `body` with the records in place.
  ///
  /// An array's element is copied with all its texts before it is used; a span's element is not.
  @inline(__always)
  private func withRecords<Result, Failure: Error>(
    _ body: (Span<AuditRecord>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe source.records.withUnsafeBufferPointer { records throws(Failure) in
      try unsafe body(records.span)
    }
  }

  /// The approximate size of the erasable part, in bytes.
  var erasableByteCount: Int {
    withRecords { ErasablePart.headerByteCount + ($0[number].receiptBytes?.count ?? 0) }
  }

  /// Appends the bytes of the entry.
  ///
  /// - Throws: ``AuditError/Code/invalidRecord``.
  func encode(
    time: Int64, previous: UInt64?, commitment: SHA256Digest?, into buffer: inout [UInt8]
  ) throws(AuditError) {
    let before = buffer.count
    do throws(MalformedEntry) {
      try withRecords { records throws(MalformedEntry) in
        try AuditEntry.encode(
          records, number, time: time, previous: previous, commitment: commitment, into: &buffer)
      }
    } catch {
      throw AuditError(.invalidRecord, at: "entry", "\(error)")
    }
    guard buffer.count - before <= TrailLimits.entryByteCount else {
      throw AuditError(
        .invalidRecord, at: "entry",
        "The entry would have \(buffer.count - before) bytes; at most \(TrailLimits.entryByteCount) are allowed."
      )
    }
  }

  /// Appends the erasable part, or nothing if the record has no erasable data.
  ///
  /// - Throws: ``AuditError/Code/invalidRecord``.
  func appendErasablePart(salt: Span<UInt8>, to bytes: inout [UInt8]) throws(AuditError) {
    let start = bytes.count
    do throws(MalformedErasablePart) {
      try withRecords { records throws(MalformedErasablePart) in
        try ErasablePart.encode(
          receipt: records[number].receiptBytes, customerToken: records[number].customerToken, salt: salt,
          into: &bytes)
      }
    } catch {
      throw AuditError(.invalidRecord, at: "erasable part", "\(error)")
    }
    guard bytes.count - start <= TrailLimits.erasableByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The receipt and tokens are \(bytes.count - start) bytes; at most \(TrailLimits.erasableByteCount) are kept."
      )
    }
  }
}
