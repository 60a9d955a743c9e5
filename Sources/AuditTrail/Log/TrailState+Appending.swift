// SPDX-License-Identifier: Apache-2.0

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
    _ records: [PreparedRecord], found: [EarlierEntries], once: TrailConfiguration.OnceWindow,
    in writer: any StorageWriter
  ) throws -> [AuditAcknowledgement] {
    let plan = try AppendPlan(records, found, after: head, once: once)
    let entries = WorkAhead(plan.steps.count) { range in
      var buffer: [UInt8] = []
      return try range.map { try plan.steps[$0].entry(records[plan.steps[$0].record], &buffer) }
    }
    let first = head.size
    var unsavedFrom = first
    try entries.forEach { entry in
      let position = head.size
      let step = plan.steps[Int(position - first)]
      let record = records[step.record]
      let erasable = try record.erasable.get()?.bytes ?? []
      try place(entry.bytes, entry.leaf, erasable, time: step.time, record.fingerprints, in: writer)
      try closeBundle(after: position, &unsavedFrom, in: writer)
    }
    try writeTail(from: unsavedFrom, in: writer)
    if !plan.steps.isEmpty {
      head.root = frontier.root
      try head.write(writer)
    }
    return plan.acknowledgements
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

  /// Puts an entry after the last one.
  private mutating func place(
    _ entry: [UInt8], _ leaf: TreeHash, _ erasable: [UInt8], time: Int64,
    _ fingerprints: EntryFingerprints, in writer: any StorageWriter
  ) throws {
    let position = head.size
    let hasOwnRow = erasable.count > TrailLimits.inlineErasableByteCount
    if hasOwnRow { try writer.put(.payloads, Int64(position), erasable) }
    tail.append(StoredEntry(entry: entry, erasable: hasOwnRow ? [] : erasable, hasOwnRow: hasOwnRow))
    try frontier.append(leaf) { coordinates, tile in
      if coordinates.level == 0 {
        try writer.put(.bundles, Int64(coordinates.number), BundleRow.encode(tile, tail[...]))
      } else {
        try writer.put(.tiles, StoredTiles.key(coordinates), TileCoordinates.encode(tile.hashes))
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
      try place(entry, .leaf(entry), erasable, time: keys.time, fingerprints, in: writer)
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

  /// What earlier entries have to do with a record, where nothing has to be read to know it: it was looked up in the
  /// same runs before, and only the entries in memory are left to be asked.
  func known(_ record: PreparedRecord) -> EarlierEntries? {
    guard let inRuns = record.inRuns, inRuns.version == index.catalogueVersion else { return nil }
    // Whether a newer one says the same has to be read.
    if let receipt = record.fingerprints.receipt, index.newestInMemory(.receipt, receipt) != nil {
      return nil
    }
    var earlier = inRuns.earlier
    if earlier.first == nil, let original = record.fingerprints.original,
      let newest = index.newestInMemory(.original, original, check: record.fingerprints.originalCheck)
    {
      earlier.previous = newest
    }
    return earlier
  }

  /// Finds what earlier entries have to do with records. It may be called on several threads at a time.
  func lookUp(
    _ records: [PreparedRecord], once: TrailConfiguration.OnceWindow, in reader: any StorageReader
  ) throws -> [EarlierEntries] {
    let search = EarlierEntriesSearch(
      index: index.snapshot(size: head.size), once: once, reader: reader,
      bytes: { try bytes(of: $0, in: reader) })
    try search.prefetch(records.lazy.map(\.fingerprints))
    return try records.map { try search.find($0.fingerprints, $0.facts) }
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
