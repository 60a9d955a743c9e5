// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// Consecutive entries of one bundle, laid out as in its row, which is assembled without reading the single entries.
struct BundleEntries: Sendable {
  /// The entries, without separators.
  fileprivate(set) var entries: [UInt8] = []
  /// The erasable parts that have no rows of their own, without separators.
  fileprivate(set) var erasables: [UInt8] = []
  private var ends: [End] = []

  /// The ends of an entry and its erasable part, which may have a row of its own.
  private struct End {
    let entry: Int
    let erasable: Int
    let isOutOfLine: Bool
  }

  var count: Int { ends.count }

  func entry(_ position: Int) -> ArraySlice<UInt8> {
    entries[(position == 0 ? 0 : ends[position - 1].entry)..<ends[position].entry]
  }

  private func erasableRange(_ position: Int) -> Range<Int> {
    (position == 0 ? 0 : ends[position - 1].erasable)..<ends[position].erasable
  }

  subscript(position: Int) -> StoredEntry {
    StoredEntry(
      entry: Array(entry(position)), erasable: Array(erasables[erasableRange(position)]),
      isOutOfLine: ends[position].isOutOfLine)
  }

  fileprivate mutating func reserve(entryByteCount: Int, erasableByteCount: Int, count: Int) {
    entries.reserveCapacity(entryByteCount)
    erasables.reserveCapacity(erasableByteCount)
    ends.reserveCapacity(count)
  }

  /// Ends an entry, whose bytes were appended to ``entries`` and ``erasables``, and returns its leaf hash.
  fileprivate mutating func endEntry(isOutOfLine: Bool) -> TreeHash {
    let start = ends.last?.entry ?? 0
    ends.append(End(entry: entries.count, erasable: erasables.count, isOutOfLine: isOutOfLine))
    return .leaf(entries.span.extracting(start..<entries.count))
  }

  /// Appends an entry that was read, and returns its leaf hash.
  @discardableResult
  mutating func append(_ stored: StoredEntry) -> TreeHash {
    entries += stored.entry
    erasables += stored.erasable
    return endEntry(isOutOfLine: stored.isOutOfLine)
  }

  mutating func append(contentsOf others: BundleEntries) {
    guard count > 0 else {
      self = others
      return
    }
    let (entryStart, erasableStart) = (entries.count, erasables.count)
    entries += others.entries
    erasables += others.erasables
    for end in others.ends {
      ends.append(
        End(
          entry: entryStart + end.entry, erasable: erasableStart + end.erasable, isOutOfLine: end.isOutOfLine)
      )
    }
  }

  /// Appends the lengths of the entries and of the erasable parts, then both, as in a bundle's row.
  func append(to row: inout [UInt8]) {
    var start = 0
    for end in ends {
      row.append(bigEndian: UInt16(end.entry - start))
      start = end.entry
    }
    start = 0
    for end in ends {
      row.append(bigEndian: end.isOutOfLine ? BundleRow.outOfLineLength : UInt16(end.erasable - start))
      start = end.erasable
    }
    row += entries
    row += erasables
  }
}

/// Consecutive entries of one bundle, with everything that is needed to enter them.
struct EncodedEntries: Sendable {
  private(set) var stored = BundleEntries()
  private(set) var leaves: [TreeHash] = []
  private(set) var fingerprints: [EntryFingerprints] = []
  /// The sealed erasable parts that have rows of their own, with the positions of their entries.
  private(set) var payloads: [(position: Int, erasable: [UInt8])] = []
  /// The time of the last entry, in milliseconds since 1970.
  private(set) var lastTime: Int64 = 0
  private let first: UInt64
  private var erasureKeys: ErasureKeyPath
  /// The nonces of the erasable parts, in order; one draw serves all, since the random generator is slow to start.
  private let nonces: [UInt8]

  var count: Int { leaves.count }

  /// Makes room for `count` entries, from the index `first` on.
  init(reserving count: Int, erasableByteCount: Int, from first: UInt64, _ erasureKeys: ErasureKeyPath) {
    self.first = first
    self.erasureKeys = erasureKeys
    nonces = Random.bytes(AES256GCM.nonceByteCount * count)
    stored.reserve(
      entryByteCount: 640 * count + 2048, erasableByteCount: erasableByteCount + AES256GCM.overhead * count,
      count: count)
    leaves.reserveCapacity(count)
    fingerprints.reserveCapacity(count)
  }

  /// Encodes the entries of some steps of a plan, and seals their erasable parts.
  init(
    _ steps: ArraySlice<AppendPlan.Step>, of records: [PreparedRecord], from first: UInt64,
    _ erasureKeys: ErasureKeyPath
  ) throws(AuditError) {
    self.init(
      reserving: steps.count,
      erasableByteCount: steps.reduce(0) { $0 + records[$1.number].record.erasableByteCount },
      from: first, erasureKeys)
    var cipher = AES256GCM()
    let salts = Random.bytes(ErasablePart.saltByteCount * steps.count)
    // The buffer is reused: of large records, only one part at a time is in memory.
    var part: [UInt8] = []
    for step in steps {
      let prepared = records[step.number]
      let salt = ErasablePart.saltByteCount * count
      part.removeAll(keepingCapacity: true)
      try prepared.record.encodeErasablePart(
        salt: salts.span.extracting(salt..<salt + ErasablePart.saltByteCount), into: &part)
      do throws(MalformedEntry) {
        try AuditEntry.encode(
          prepared.record, time: step.time, previous: step.previous,
          commitment: part.isEmpty ? nil : SHA256Digest(of: part), limit: TrailLimits.entryByteCount,
          into: &stored.entries)
      } catch {
        throw AuditError(.invalidRecord, at: "entry", "\(error)")
      }
      try endEntry(step.time, part.isEmpty ? nil : part, with: &cipher, prepared.fingerprints)
    }
  }

  /// Appends an entry of another copy of the trail, and seals its erasable part anew.
  mutating func append(
    _ entry: [UInt8], time: Int64, erasable: [UInt8]?, with cipher: inout AES256GCM,
    _ fingerprints: EntryFingerprints
  ) throws(AuditError) {
    stored.entries += entry
    try endEntry(time, erasable, with: &cipher, fingerprints)
  }

  /// Ends an entry whose bytes were appended, and seals its erasable part.
  private mutating func endEntry(
    _ time: Int64, _ erasable: [UInt8]?, with cipher: inout AES256GCM, _ fingerprints: EntryFingerprints
  ) throws(AuditError) {
    var isOutOfLine = false
    if let erasable {
      guard let key = erasureKeys.key(of: first + UInt64(count)) else {
        throw AuditError(
          .tampered, at: "covers 0",
          "There is no key for the erasable part of entry \(first + UInt64(count)).")
      }
      let nonces = nonces
      let nonce = AES256GCM.nonceByteCount * count..<AES256GCM.nonceByteCount * (count + 1)
      isOutOfLine = erasable.count + AES256GCM.overhead > TrailLimits.inlineErasableByteCount
      if isOutOfLine {
        var sealed: [UInt8] = []
        cipher.seal(erasable.span, key: key, nonce: nonces.span.extracting(nonce), into: &sealed)
        payloads.append((count, sealed))
      } else {
        cipher.seal(erasable.span, key: key, nonce: nonces.span.extracting(nonce), into: &stored.erasables)
      }
    }
    leaves.append(stored.endEntry(isOutOfLine: isOutOfLine))
    self.fingerprints.append(fingerprints)
    lastTime = time
  }
}
