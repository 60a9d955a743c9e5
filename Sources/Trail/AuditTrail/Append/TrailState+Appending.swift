// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// The acknowledgement of a record: its place in the trail.
public struct AuditAcknowledgement: Sendable, Hashable {
  /// The index of the entry.
  public let index: UInt64
  /// `true` if the same verdict on the same receipt under the same policy was recorded already.
  ///
  /// Then `index` is the index of that entry, and nothing was added.
  public let isRepeat: Bool

  /// Creates an acknowledgement, for tests and stand-ins.
  package init(index: UInt64, isRepeat: Bool) {
    self.index = index
    self.isRepeat = isRepeat
  }
}

extension TrailState {
  /// Enters records, in order, in the transaction of `writer`.
  ///
  /// If it throws, this state must not be used any more.
  ///
  /// - Parameters:
  ///   - records: The records to enter.
  ///   - found: The entries before this transaction that are related to each record; see ``lookUp(_:once:in:)``.
  ///   - once: The period in which a record is entered only once.
  ///   - writer: The transaction.
  /// - Returns: One acknowledgement for each record, in order.
  /// - Throws: ``AuditError``, ``StorageError``.
  mutating func append(
    _ records: [PreparedRecord], found: [EarlierEntries], once: TrailConfiguration.OnceWindow,
    in writer: any StorageWriter
  ) throws -> [AuditAcknowledgement] {
    let plan = try AppendPlan(records, found, after: head, once: once)
    var unsavedFrom = head.size
    let erasureKeys = try keysForWriting()
    let encoded = WorkAhead(plan.bundles) { try plan.encode($0, of: records, erasureKeys: erasureKeys) }
    if !plan.steps.isEmpty { noteWriter() }
    try encoded.forEach { try enter($0, &unsavedFrom, in: writer) }
    try writeTail(from: unsavedFrom, in: writer)
    if !plan.steps.isEmpty {
      head.root = frontier.root
      try writeHead(in: writer)
    }
    return plan.acknowledgements
  }

  /// Writes the index records that are only in memory as runs, if there are enough of them.
  mutating func flushIndex(
    every interval: UInt64 = TrailLimits.flushInterval, in writer: any StorageWriter
  ) throws {
    guard head.size & ~255 >= head.indexedSize + interval else { return }
    // Without keys, the index records of customers would be lost permanently.
    _ = try keysForWriting()
    // Only whole bundles, so that the set of records does not depend on when they were flushed.
    head.indexedSize = head.size & ~255
    try index.flush(upTo: head.indexedSize, in: WritableIndexRows(base: writer))
    head.indexRoot = index.root
    try writeHead(in: writer)
  }

  /// Notes that the entries from here on are this writer's.
  private mutating func noteWriter() {
    guard head.writer.writer != context.writer else { return }
    head.writer = TrailHead.WriterRun(writer: context.writer, from: head.size)
  }

  /// Appends entries of one bundle after the last entry.
  private mutating func enter(
    _ encoded: EncodedEntries, _ unsavedFrom: inout UInt64, in writer: any StorageWriter
  ) throws {
    for payload in encoded.payloads {
      try writer.put(.payloads, Int64(head.size) + Int64(payload.position), payload.erasable)
    }
    tail.append(contentsOf: encoded.stored)
    for leaf in encoded.leaves {
      try frontier.append(leaf) { coordinates, tile in
        if coordinates.level == 0 {
          try writer.put(.bundles, Int64(coordinates.number), BundleRow.encode(tile, tail))
        } else {
          try writer.put(.tiles, StoredTiles.key(coordinates), TileCoordinates.encode(tile.hashes))
        }
      }
    }
    let first = head.size
    index.withMemory { memory in
      memory.touch(.transaction, encoded.fingerprints.compactMap(\.transaction))
      for (number, fingerprints) in encoded.fingerprints.enumerated() {
        fingerprints.insert(into: &memory, at: first + UInt64(number))
      }
    }
    head.size += UInt64(encoded.count)
    head.lastTime = encoded.lastTime
    if tail.count == BundleRow.entryCount { try closeBundle(&unsavedFrom, in: writer) }
  }

  /// Writes the entries that ``append(_:once:in:)`` and ``adopt(_:in:)`` left in memory.
  private func writeTail(from first: UInt64, in writer: any StorageWriter) throws {
    for index in max(first, head.size & ~255)..<head.size {
      try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)]))
    }
  }

  /// Adopts entries of another copy of the same trail byte for byte, and seals their erasable parts anew.
  ///
  /// The keys of erased parts are forgotten here too. When all entries are adopted, keys and erasures must agree:
  /// ``erasureAgreement(in:)``.
  ///
  /// - Throws: ``AuditError/Code/tampered`` if they cannot be entries of a trail.
  mutating func adopt(_ copied: [CopiedEntry], in writer: any StorageWriter) throws {
    var unsavedFrom = head.size
    var erased: [UInt64] = []
    var rest = copied[...]
    var cipher = AES256GCM()
    let erasureKeys = try keysForWriting()
    noteWriter()
    while !rest.isEmpty {
      let bundle = rest.prefix(BundleRow.entryCount - tail.count)
      rest = rest.dropFirst(bundle.count)
      var encoded = EncodedEntries(
        reserving: bundle.count, erasableByteCount: bundle.reduce(0) { $0 + ($1.erasable?.count ?? 0) },
        from: head.size, erasureKeys)
      var lastTime = head.lastTime
      for copy in bundle {
        let position = head.size + UInt64(encoded.count)
        let keys = try Self.keys(of: copy.entry, at: position)
        guard keys.time >= lastTime else {
          throw AuditError(
            .tampered, at: "entry \(position)", "The entry is dated before the one in front of it.")
        }
        lastTime = keys.time
        try copy.check(keys.commitment, at: position)
        if keys.commitment != nil, copy.erasable == nil { erased.append(position) }
        let fingerprints: EntryFingerprints
        do {
          let erasable = copy.erasable ?? []
          fingerprints = try EntryFingerprints(
            copy.entry.span, erasable: erasable.span, keys, context.keys.fingerprints)
        } catch {
          throw AuditError(.tampered, at: "entry \(position)", "The entry cannot be read: \(error)")
        }
        try encoded.append(time: keys.time, erasable: copy.erasable, with: &cipher, fingerprints) {
          $0 += copy.entry
        }
      }
      try enter(encoded, &unsavedFrom, in: writer)
    }
    if !erased.isEmpty { try ErasureKeys.forget(erased, in: writer) }
    try writeTail(from: unsavedFrom, in: writer)
    head.root = frontier.root
    try writeHead(in: writer)
  }

  /// Removes the entries of a bundle from the tail after its last entry.
  private mutating func closeBundle(_ unsavedFrom: inout UInt64, in writer: any StorageWriter) throws {
    let first = head.size - UInt64(BundleRow.entryCount)
    // The table has rows for the entries that earlier transactions left in the tail.
    if first < unsavedFrom {
      try writer.remove(.tail, in: Int64(first)...Int64(head.size) - 1, erasing: false)
    }
    unsavedFrom = head.size
    tail = BundleEntries()
  }

  /// Returns the related entries of each record for which nothing has to be read.
  ///
  /// Such a record was looked up in the same runs before, and only the entries in memory remain to be searched. Returns
  /// `nil` for any other record.
  func known(_ records: [PreparedRecord]) -> [EarlierEntries?] {
    let version = index.version
    return index.withMemory { memory in
      memory.touch(.receipt, records.compactMap(\.fingerprints.receipt))
      memory.touch(.original, records.compactMap(\.fingerprints.original))
      return records.map { record in
        guard let inRuns = record.inRuns, inRuns.version == version else { return nil }
        // To know if the record repeats a newer entry, that entry must be read.
        if let receipt = record.fingerprints.receipt, memory.newest(.receipt, receipt) != nil { return nil }
        var earlier = inRuns.earlier
        if earlier.first == nil, let original = record.fingerprints.original,
          let newest = memory.newest(.original, original, check: record.fingerprints.originalCheck)
        {
          earlier.previous = newest
        }
        return earlier
      }
    }
  }

  /// Finds the earlier entries that are related to records.
  ///
  /// It may be called on several threads at a time.
  func lookUp(
    _ records: [PreparedRecord], once: TrailConfiguration.OnceWindow, in reader: any StorageReader
  ) throws -> [EarlierEntries] {
    let search = EarlierEntriesSearch(
      index: index.snapshot(size: head.size), once: once, reader: IndexRows(base: reader),
      entries: entries(in: reader))
    try search.prefetch(records.lazy.map(\.fingerprints))
    return try records.map { try search.find($0.fingerprints, $0.facts) }
  }

  static func keys(of entry: [UInt8], at index: UInt64) throws -> EntryIndexKeys {
    do { return try EntryIndexKeys(entry) } catch {
      throw AuditError(.tampered, at: "entry \(index)", "The entry cannot be read: \(error)")
    }
  }
}

/// An entry of another copy of a trail, to be adopted.
struct CopiedEntry {
  let entry: [UInt8]
  /// Its erasable part, opened; `nil` if it has no part or the part was erased.
  let erasable: [UInt8]?

  /// Checks that the erasable part is the one that the entry commits to.
  ///
  /// - Throws: ``AuditError/Code/tampered``.
  func check(_ commitment: SHA256Digest?, at index: UInt64) throws(AuditError) {
    guard let erasable else { return }
    guard let commitment, SHA256Digest(of: erasable) == commitment else {
      throw AuditError(
        .tampered, at: "entry \(index)", "Its erasable part is not the one that the entry commits to.")
    }
  }
}
