// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// Where a record stands in the trail.
public struct AuditAcknowledgement: Sendable, Hashable {
  /// The index of the entry.
  public let index: UInt64
  /// Whether the same verdict of the same receipt under the same policy was there already: `index` is then that
  /// entry's, and nothing was added.
  public let isRepeat: Bool

  /// Creates one, as tests and stand-ins do.
  public init(index: UInt64, isRepeat: Bool) {
    self.index = index
    self.isRepeat = isRepeat
  }
}

extension TrailState {
  /// Enters records, in order, in the transaction of `writer`. After it throws, this state is of no more use.
  ///
  /// - Parameters:
  ///   - records: What is entered.
  ///   - found: What the entries before this transaction have to do with the records; ``lookUp(_:once:in:)``.
  ///   - once: For how long a record is entered only once.
  ///   - writer: The transaction.
  /// - Returns: For each record where it stands.
  /// - Throws: ``AuditError``, ``StorageError``.
  mutating func append(
    _ records: [AuditRecord], found: [EarlierEntries], once: TrailConfiguration.OnceWindow,
    in writer: any StorageWriter
  ) throws -> [AuditAcknowledgement] {
    let start = head.size
    var unsavedFrom = head.size
    var acknowledgements: [AuditAcknowledgement] = []
    acknowledgements.reserveCapacity(records.count)
    for (record, earlier) in zip(records, found) {
      // What this transaction entered so far is newer than what was found.
      if let first = try repeated(record, earlier.fingerprints, since: start, once: once, in: writer)
        ?? earlier.first
      {
        acknowledgements.append(AuditAcknowledgement(index: first, isRepeat: true))
        continue
      }
      let position = head.size
      guard position < TrailLimits.entries else {
        throw AuditError(.invalidRecord, at: "entry \(position)", "The trail is full; begin another.")
      }
      let previous = newestInMemory(earlier.fingerprints, since: start) ?? earlier.previous
      try enter(record, earlier.fingerprints, previous: previous, in: writer)
      try closeBundle(after: position, &unsavedFrom, in: writer)
      acknowledgements.append(AuditAcknowledgement(index: position, isRepeat: false))
    }
    try writeTail(from: unsavedFrom, in: writer)
    if head.size > start {
      head.root = frontier.root
      try head.write(writer)
    }
    return acknowledgements
  }

  /// Writes the index records that are only in memory as runs, where there are enough of them.
  mutating func flushIndex(
    every interval: UInt64 = TrailLimits.flushInterval, in writer: any StorageWriter
  ) throws {
    guard head.size & ~255 >= head.indexedSize + interval else { return }
    // Whole bundles, so that which records there are does not depend on when they were flushed.
    head.indexedSize = head.size & ~255
    try index.flush(upTo: head.indexedSize, in: writer)
    try head.write(writer)
  }

  private mutating func enter(
    _ record: AuditRecord, _ fingerprints: EntryFingerprints, previous: UInt64?, in writer: any StorageWriter
  ) throws {
    var erasable: [UInt8] = []
    var commitment: SHA256Digest?
    if record.hasErasablePart {
      do {
        try ErasablePart.encode(record, salt: Random.bytes(ErasablePart.saltByteCount)[...], into: &erasable)
      } catch {
        throw AuditError(.invalidRecord, at: "erasable part", "\(error)")
      }
      guard erasable.count <= TrailLimits.erasableByteCount else {
        throw AuditError(
          .invalidRecord, at: "erasable part",
          "The receipt and tokens are \(erasable.count) bytes; at most \(TrailLimits.erasableByteCount) are kept."
        )
      }
      commitment = SHA256Digest(of: erasable)
    }
    let time = max(record.time, head.lastTime)
    var entry: [UInt8] = []
    do {
      try AuditEntry.encode(
        record.facts, time: time, previous: previous, commitment: commitment, into: &entry)
    } catch {
      throw AuditError(.invalidRecord, at: "entry", "\(error)")
    }
    guard entry.count <= TrailLimits.entryByteCount else {
      throw AuditError(
        .invalidRecord, at: "entry",
        "The entry would have \(entry.count) bytes; at most \(TrailLimits.entryByteCount) are allowed.")
    }
    try place(entry, erasable, time: time, fingerprints, in: writer)
  }

  /// Puts an entry after the last one.
  private mutating func place(
    _ entry: [UInt8], _ erasable: [UInt8], time: Int64, _ fingerprints: EntryFingerprints,
    in writer: any StorageWriter
  ) throws {
    let position = head.size
    let hasOwnRow = erasable.count > TrailLimits.inlineErasableByteCount
    if hasOwnRow { try writer.put(.payloads, Int64(position), erasable) }
    tail.append(StoredEntry(entry: entry, erasable: hasOwnRow ? [] : erasable, hasOwnRow: hasOwnRow))
    try frontier.append(.leaf(entry)) { coordinates, hashes in
      if coordinates.level == 0 {
        try writer.put(.bundles, Int64(coordinates.number), BundleRow.encode(hashes, tail[...]))
      } else {
        try writer.put(.tiles, StoredTiles.key(coordinates), TileCoordinates.encode(hashes))
      }
    }
    fingerprints.insert(into: &index, at: position)
    head.size = position + 1
    head.lastTime = time
  }

  /// Writes what ``append(_:once:in:)`` and ``adopt(_:in:)`` left in memory.
  private func writeTail(from first: UInt64, in writer: any StorageWriter) throws {
    for index in max(first, head.size & ~255)..<head.size {
      try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)]))
    }
  }

  /// Takes over entries of another copy of the same trail, byte for byte.
  ///
  /// - Throws: ``AuditError/Code/tampered`` where they cannot be entries of a trail.
  mutating func adopt(_ copied: [(entry: [UInt8], erasable: [UInt8])], in writer: any StorageWriter) throws {
    var unsavedFrom = head.size
    for (entry, erasable) in copied {
      let position = head.size
      let keys = try Self.keys(of: entry, at: position)
      guard keys.time >= head.lastTime else {
        throw AuditError(
          .tampered, at: "entry \(position)", "The entry is dated before the one in front of it.")
      }
      let fingerprints = try Self.fingerprints(
        of: StoredEntry(entry: entry, erasable: erasable, hasOwnRow: false), at: position, key)
      try place(entry, erasable, time: keys.time, fingerprints, in: writer)
      try closeBundle(after: position, &unsavedFrom, in: writer)
    }
    try writeTail(from: unsavedFrom, in: writer)
    head.root = frontier.root
    try head.write(writer)
  }

  /// After the last entry of a bundle, nothing of it is in the tail any more.
  private mutating func closeBundle(
    after position: UInt64, _ unsavedFrom: inout UInt64, in writer: any StorageWriter
  ) throws {
    guard tail.count == BundleRow.entryCount else { return }
    let first = position & ~255
    // Rows of the tail exist for what earlier transactions left there.
    if first < unsavedFrom { try writer.remove(.tail, in: Int64(first)...Int64(position), erasing: true) }
    unsavedFrom = position + 1
    tail.removeAll(keepingCapacity: true)
  }

  /// The entry from `start` on, of this transaction, that says the same already.
  private func repeated(
    _ record: AuditRecord, _ fingerprints: EntryFingerprints, since start: UInt64,
    once: TrailConfiguration.OnceWindow, in writer: any StorageWriter
  ) throws -> UInt64? {
    guard let fingerprint = fingerprints.receipt,
      let newest = index.newestInMemory(.receipt, fingerprint), newest >= start
    else { return nil }
    var candidates = index.candidates(.receipt, fingerprint, before: head.size, in: writer)
    return try repeated(record, &candidates, once: once) { try bytes(of: $0, in: writer) }
  }

  /// The first of the candidates that says the same as the record.
  private func repeated(
    _ record: AuditRecord, _ candidates: inout IndexCandidates, once: TrailConfiguration.OnceWindow,
    _ bytes: (UInt64) throws -> [UInt8]
  ) throws -> UInt64? {
    var wanted: SHA256Digest?
    while let candidate = try candidates.next() {
      let entry = try bytes(candidate)
      let keys = try Self.keys(of: entry, at: candidate)
      if case .seconds(let seconds) = once, keys.time < record.time - seconds * 1000 { return nil }
      if wanted == nil { wanted = ExactlyOnce.key(record.facts) }
      if ExactlyOnce.key(keys, in: entry.span) == wanted { return candidate }
    }
    return nil
  }

  /// The newest entry from `start` on of an original transaction.
  private func newestInMemory(_ fingerprints: EntryFingerprints, since start: UInt64) -> UInt64? {
    guard let original = fingerprints.original,
      let newest = index.newestInMemory(.original, original, check: fingerprints.originalCheck),
      newest >= start
    else { return nil }
    return newest
  }

  /// Finds what earlier entries have to do with records. It may be called on several threads at a time.
  func lookUp(
    _ records: ArraySlice<AuditRecord>, once: TrailConfiguration.OnceWindow, in reader: any StorageReader
  ) throws -> [EarlierEntries] {
    let fingerprints = records.map { EntryFingerprints($0, key) }
    try reader.prefetch(.pages) {
      fingerprints.flatMap { record in
        [
          record.receipt.flatMap { index.firstPage(.receipt, $0) },
          record.original.flatMap { index.firstPage(.original, $0, check: record.originalCheck) },
        ].compactMap { $0 }
      }
    }
    return try zip(records, fingerprints).map { try lookUp($0, $1, once: once, in: reader) }
  }

  private func lookUp(
    _ record: AuditRecord, _ fingerprints: EntryFingerprints, once: TrailConfiguration.OnceWindow,
    in reader: any StorageReader
  ) throws -> EarlierEntries {
    var earlier = EarlierEntries(fingerprints: fingerprints, first: nil, previous: nil)
    if let receipt = fingerprints.receipt {
      var candidates = index.candidates(.receipt, receipt, before: head.size, in: reader)
      earlier.first = try repeated(record, &candidates, once: once) { try bytes(of: $0, in: reader) }
    }
    if earlier.first == nil, let original = fingerprints.original {
      // At its word: see IndexKind.hasCheck.
      earlier.previous = try index.newest(
        .original, original, check: fingerprints.originalCheck, before: head.size, in: reader)
    }
    return earlier
  }

  static func keys(of entry: [UInt8], at index: UInt64) throws -> EntryIndexKeys {
    do { return try EntryIndexKeys(entry) } catch {
      throw AuditError(.tampered, at: "entry \(index)", "The entry cannot be read: \(error)")
    }
  }

  /// The entry at `index`, which may be one of this transaction.
  func bytes(of index: UInt64, in reader: any StorageReader) throws -> [UInt8] {
    if index >= head.size & ~255, index < head.size, Int(index & 255) < tail.count {
      return tail[Int(index & 255)].entry
    }
    guard let entry = try StoredEntries(reader: reader).entry(at: index) else {
      throw StoredEntries.missing(index)
    }
    return entry
  }
}

/// What the entries before a transaction have to do with a record.
struct EarlierEntries {
  let fingerprints: EntryFingerprints
  /// The entry that says the same already.
  var first: UInt64?
  /// The newest entry of the same original transaction.
  var previous: UInt64?
}
