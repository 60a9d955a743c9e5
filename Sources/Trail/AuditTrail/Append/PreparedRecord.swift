// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto

/// A record with all that can be said of it before it is its turn: under which fingerprints it will be found, what of it
/// is erasable, and what entries that the runs of the index know have to do with it. Made by who appends, so that one
/// batch is prepared while another is stored.
final class PreparedRecord: Sendable {
  /// The record. It is read in place: a copy would copy all its texts.
  var facts: EntryFacts {
    _read { yield source.records[number].facts }
  }
  private let source: Source
  private let number: Int
  let fingerprints: EntryFingerprints
  /// `nil` if it has not been looked up yet.
  let inRuns: RunsLookup.Answer?

  private init(
    _ source: Source, _ number: Int, _ fingerprints: EntryFingerprints, inRuns: RunsLookup.Answer?
  ) {
    self.source = source
    self.number = number
    self.fingerprints = fingerprints
    self.inRuns = inRuns
  }

  /// The records that came in together. There is one for each thread that prepares some of them: all would else count
  /// their references to the same array.
  private final class Source: Sendable {
    let records: [AuditRecord]

    init(_ records: [AuditRecord]) { self.records = records }
  }

  /// Prepares records, with all processors where there are many.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - key: What fingerprints are made with.
  ///   - runs: Looks records up; `nil` leaves that for later.
  /// - Returns: The records, in order.
  static func prepare(_ records: [AuditRecord], _ key: IndexKey, lookingUpIn runs: RunsLookup? = nil)
    -> [PreparedRecord]
  {
    let fingerprints = AllProcessors.map(records.count) { range in
      let records = records.span
      return range.map { EntryFingerprints(records, $0, key) }
    }
    // In the order of the runs: records whose neighbours lie in the same page have it read once.
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
  /// Does something with the records where they lie: an element of an array is copied before it is used, all its texts
  /// included, and one of a span is not.
  @inline(__always)
  private func withRecords<Result, Failure: Error>(
    _ body: (Span<AuditRecord>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe source.records.withUnsafeBufferPointer { records throws(Failure) in
      try unsafe body(records.span)
    }
  }

  /// The bytes of the erasable part, about.
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

  /// Appends the erasable part; nothing where nothing is erasable.
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
