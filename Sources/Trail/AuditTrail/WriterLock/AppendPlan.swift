// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto
internal import TransparencyLog

/// The plan of an append transaction: the records that repeat existing entries, and the new entries with their
/// predecessors.
struct AppendPlan {
  /// A record that becomes an entry.
  struct Step {
    /// The number of the record.
    let record: Int
    /// The entry's time in milliseconds since 1970, which is never before that of the preceding entry.
    let time: Int64
    /// The newest entry of the same original transaction.
    let previous: UInt64?
  }

  /// The entries to append, in order; the first becomes entry `start`.
  private(set) var steps: [Step] = []
  /// One acknowledgement for each record, in order.
  private(set) var acknowledgements: [AuditAcknowledgement] = []

  private let start: UInt64
  private let once: TrailConfiguration.OnceWindow
  private var lastTime: Int64
  /// The receipts and original transactions of the steps.
  private var planned: MemtableRecords

  /// Plans the transaction for records that were looked up.
  ///
  /// - Throws: ``AuditError/Code/invalidRecord`` if the trail is full.
  init(
    _ records: [PreparedRecord], _ found: [EarlierEntries], after head: TrailHead,
    once: TrailConfiguration.OnceWindow
  ) throws {
    start = head.size
    lastTime = head.lastTime
    self.once = once
    planned = MemtableRecords(base: start, expecting: [.receipt: records.count, .original: records.count])
    steps.reserveCapacity(records.count)
    acknowledgements.reserveCapacity(records.count)
    for number in records.indices { try add(number, found[number], of: records) }
  }

  private mutating func add(
    _ number: Int, _ earlier: EarlierEntries, of records: [PreparedRecord]
  ) throws {
    let record = records[number]
    // Entries of this transaction are newer than those that were found.
    if let first = repeated(record, records) ?? earlier.first {
      acknowledgements.append(AuditAcknowledgement(index: first, isRepeat: true))
      return
    }
    let position = start + UInt64(steps.count)
    guard position < TrailLimits.entries else {
      throw AuditError(.invalidRecord, at: "entry \(position)", "The trail is full; begin another.")
    }
    var previous = earlier.previous
    if let original = record.fingerprints.original {
      let check = record.fingerprints.originalCheck
      previous = planned.newest(.original, original, check: check) ?? previous
      planned.insert(.original, original, position, check: check)
    }
    if let receipt = record.fingerprints.receipt { planned.insert(.receipt, receipt, position) }
    lastTime = max(record.facts.time, lastTime)
    steps.append(Step(record: number, time: lastTime, previous: previous))
    acknowledgements.append(AuditAcknowledgement(index: position, isRepeat: false))
  }

  /// Returns the entry of this transaction that the record repeats.
  private func repeated(_ record: PreparedRecord, _ records: [PreparedRecord]) -> UInt64? {
    let earlier = record.fingerprints.receipt.map { planned.indices(.receipt, $0) } ?? []
    // A record that is never a repeat has no key. Neither have entries with its fingerprint, and two missing keys are
    // not equal.
    guard !earlier.isEmpty, let wanted = ExactlyOnce.key(record.facts) else { return nil }
    for index in earlier {
      let step = steps[Int(index - start)]
      guard once.covers(step.time, at: record.facts.time) else { return nil }
      if ExactlyOnce.key(records[step.record].facts) == wanted { return index }
    }
    return nil
  }
}

extension AppendPlan {
  /// The ranges of steps that go into the same bundle.
  var bundles: [Range<Int>] {
    var ranges: [Range<Int>] = []
    var first = 0
    while first < steps.count {
      let room = BundleRow.entryCount - Int((start + UInt64(first)) % UInt64(BundleRow.entryCount))
      ranges.append(first..<min(first + room, steps.count))
      first += room
    }
    return ranges
  }

  /// Encodes the entries of a range of steps, and seals their erasable parts.
  ///
  /// - Throws: ``AuditError/Code/invalidRecord``.
  func encode(
    _ range: Range<Int>, of records: [PreparedRecord], erasureKeys: ErasureKeyPath
  ) throws -> EncodedEntries {
    var cipher = AES256GCM()
    let erasableByteCount = steps[range].reduce(0) { $0 + records[$1.record].erasableByteCount }
    var encoded = EncodedEntries(
      reserving: range.count, erasableByteCount: erasableByteCount, from: start + UInt64(range.lowerBound),
      erasureKeys)
    // The random generator is slow to start, so one draw serves all entries.
    let salts = Random.bytes(ErasablePart.saltByteCount * range.count)
    // The buffer is reused: of large records, only one part at a time is in memory.
    var part: [UInt8] = []
    for (position, step) in steps[range].enumerated() {
      let record = records[step.record]
      let salt = ErasablePart.saltByteCount * position
      part.removeAll(keepingCapacity: true)
      try record.appendErasablePart(
        salt: salts.span.extracting(salt..<salt + ErasablePart.saltByteCount), to: &part)
      let commitment = part.isEmpty ? nil : SHA256Digest(of: part)
      try encoded.append(
        time: step.time, erasable: part.isEmpty ? nil : part, with: &cipher, record.fingerprints
      ) {
        try record.encode(
          time: step.time, previous: step.previous, commitment: commitment, into: &$0)
      }
    }
    return encoded
  }
}
