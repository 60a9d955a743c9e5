// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto

/// A record with all that can be said of it before it is its turn: under which fingerprints it will be found, what of it
/// is erasable, and what entries that the runs of the index know have to do with it. Made by who appends, so that one
/// batch is prepared while another is stored.
final class PreparedRecord: Sendable {
  /// What is recorded. It is read where it came in: a copy would be one of all its texts.
  var facts: EntryFacts {
    _read { yield source.records[number].facts }
  }
  private let source: Source
  private let number: Int
  let fingerprints: EntryFingerprints
  /// Looked at only where the record is entered: a repetition is acknowledged whatever comes with it.
  let erasable: Result<CommittedErasable?, AuditError>
  /// `nil` where it has not been looked up yet.
  let inRuns: RunsLookup.Answer?

  private init(
    _ source: Source, _ number: Int, _ fingerprints: EntryFingerprints,
    erasable: Result<CommittedErasable?, AuditError>, inRuns: RunsLookup.Answer?
  ) {
    self.source = source
    self.number = number
    self.fingerprints = fingerprints
    self.erasable = erasable
    self.inRuns = inRuns
  }

  /// The records that came in together. There is one for each thread that prepares some of them: all would else count
  /// their references to the same array.
  private final class Source: Sendable {
    let records: [AuditRecord]

    init(_ records: [AuditRecord]) { self.records = records }
  }

  /// Of the erasable part, before it is sealed.
  var erasableByteCount: Int { (try? erasable.get())?.bytes.count ?? 0 }

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
    let order = records.indices.sorted { fingerprints[$0].original ?? 0 < fingerprints[$1].original ?? 0 }
    let prepared = AllProcessors.map(records.count) { range in
      let numbers = order[range]
      let answers = runs?.answers(numbers, of: records, fingerprints)
      // The generator is slow to start: one draw for many.
      let salts = Random.bytes(ErasablePart.saltByteCount * range.count)
      let source = Source(records)
      let span = records.span
      return zip(numbers, 0..<range.count).map { number, position in
        let start = ErasablePart.saltByteCount * position
        // Each part is taken by itself: the record as a whole would be copied, with all its texts.
        let erasable = CommittedErasable.prepared(
          receipt: span[number].receiptBytes, customerToken: span[number].customerToken,
          salt: salts[start..<start + ErasablePart.saltByteCount])
        return PreparedRecord(
          source, number, fingerprints[number], erasable: erasable, inRuns: answers?[position])
      }
    }
    var places = order
    for (place, number) in order.enumerated() { places[number] = place }
    return places.map { prepared[$0] }
  }
}

/// The bytes of an erasable part, and what its entry says of them.
struct CommittedErasable {
  let bytes: [UInt8]
  let commitment: SHA256Digest

  /// What is erasable of a record, or why it cannot be entered.
  static func prepared(receipt: [UInt8]?, customerToken: String?, salt: ArraySlice<UInt8>) -> Result<
    CommittedErasable?, AuditError
  > {
    Result { () throws(AuditError) in
      try CommittedErasable(receipt: receipt, customerToken: customerToken, salt: salt)
    }
  }

  /// `nil` where nothing is erasable.
  private init?(receipt: [UInt8]?, customerToken: String?, salt: ArraySlice<UInt8>) throws(AuditError) {
    guard receipt != nil || customerToken != nil else { return nil }
    var bytes: [UInt8] = []
    do {
      try ErasablePart.encode(receipt: receipt, customerToken: customerToken, salt: salt, into: &bytes)
    } catch {
      throw AuditError(.invalidRecord, at: "erasable part", "\(error)")
    }
    guard bytes.count <= TrailLimits.erasableByteCount else {
      throw AuditError(
        .invalidRecord, at: "erasable part",
        "The receipt and tokens are \(bytes.count) bytes; at most \(TrailLimits.erasableByteCount) are kept.")
    }
    self.bytes = bytes
    commitment = SHA256Digest(of: bytes)
  }
}
