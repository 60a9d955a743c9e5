// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import TransparencyLog

extension TrailWriter {
  /// Enters records, which survive a power loss after the next sync.
  func append(_ records: [PreparedRecord]) throws(AuditError) -> [AuditAcknowledgement] {
    let once = context.keys.configuration.once
    return try locked { state throws(AuditError) in
      try state.write { trail, writer in
        // No other process can write now, so other threads read the state that this transaction sees.
        let found = try trail.earlierEntries(of: records, once: once, in: storage)
        try trail.flushIndex(every: flushInterval, in: writer)
        return try trail.append(records, found: found, once: once, in: writer)
      }
    }
  }
}

extension TrailState {
  /// Enters records that were looked up (``search(_:in:)``), in order; if it throws, this state must not be used any
  /// more.
  mutating func append(
    _ records: [PreparedRecord], found: [EarlierEntries], once: TrailConfiguration.OnceWindow,
    in writer: any StorageWriter
  ) throws -> [AuditAcknowledgement] {
    let plan = try AppendPlan(records, found, after: head, once: once)
    let erasureKeys = try keysForWriting()
    guard !plan.steps.isEmpty else { return plan.acknowledgements }
    let encoded = ConcurrentWork.parts(plan.bundles) { steps in
      try EncodedEntries(
        plan.steps[steps], of: records, from: plan.start + UInt64(steps.lowerBound), erasureKeys)
    }
    noteWriter()
    for bundle in encoded { try enter(bundle.take(), after: plan.start, in: writer) }
    try writeTail(after: plan.start, in: writer)
    head.root = frontier.root
    try writeHead(in: writer)
    return plan.acknowledgements
  }

  /// Enters records that the trail itself makes.
  mutating func append(own records: [AuditRecord], in writer: any StorageWriter) throws
    -> [AuditAcknowledgement]
  {
    let records = PreparedRecord.records(records, context.keys.fingerprints)
    let found = try search(.forever, in: writer).find(records)
    return try append(records, found: found, once: .forever, in: writer)
  }

  /// Returns a search for the entries of this state that are related to records.
  func search(_ once: TrailConfiguration.OnceWindow, in reader: any StorageReader) -> EarlierEntriesSearch {
    EarlierEntriesSearch(
      index: index.snapshot(size: head.size), once: once, reader: IndexRows(base: reader),
      entries: entries(in: reader))
  }

  /// Finds the earlier entries that are related to records, on all processors if something must be read.
  fileprivate func earlierEntries(
    of records: [PreparedRecord], once: TrailConfiguration.OnceWindow, in storage: any TrailStorage
  ) throws -> [EarlierEntries] {
    let known = known(records)
    let unknown = zip(records, known).compactMap { $1 == nil ? $0 : nil }
    var found = try AllProcessors.map(unknown.count) { range in
      try storage.read { reader in try search(once, in: reader).find(Array(unknown[range])) }
    }[...]
    return known.compactMap { $0 ?? found.popFirst() }
  }

  /// Returns the related entries of each record that was looked up in the same runs before; `nil` of any other record.
  private func known(_ records: [PreparedRecord]) -> [EarlierEntries?] {
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

  /// Notes that the entries from here on are this writer's.
  mutating func noteWriter() {
    guard head.writer.writer != context.writer else { return }
    head.writer = TrailHead.WriterRun(writer: context.writer, from: head.size)
  }

  /// Appends entries of one bundle, in a transaction that began with `start` entries.
  mutating func enter(_ encoded: EncodedEntries, after start: UInt64, in writer: any StorageWriter) throws {
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
    guard tail.count == BundleRow.entryCount else { return }
    let bundle = head.size - UInt64(BundleRow.entryCount)..<head.size
    // The table has rows for the entries that earlier transactions left in the tail.
    if bundle.lowerBound < start {
      try writer.remove(.tail, in: Int64(bundle.lowerBound)...Int64(head.size) - 1, erasing: false)
    }
    tail = BundleEntries()
  }

  /// Writes the entries of a transaction that ``enter(_:after:in:)`` left in memory.
  func writeTail(after start: UInt64, in writer: any StorageWriter) throws {
    for index in max(start, head.size & ~255)..<head.size {
      try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)]))
    }
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
}
