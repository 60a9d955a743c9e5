// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import TransparencyLog

extension TrailWriter {
  /// Enters records, which survive a power loss after the next sync.
  func append(_ records: [PreparedRecord]) throws(AuditError) -> [AuditAcknowledgement] {
    let once = context.keys.configuration.once
    return try transaction { trail, writer in
      // No other process can write now, so other threads read the state that this transaction sees.
      let found = try earlierEntries(of: records, trail, once)
      try trail.flushIndex(every: flushInterval, in: writer)
      return try trail.append(records, found: found, once: once, in: writer)
    }
  }

  /// Finds the earlier entries that are related to records.
  ///
  /// Records that are not known yet are looked up on all processors.
  private func earlierEntries(
    of records: [PreparedRecord], _ trail: TrailState, _ once: TrailConfiguration.OnceWindow
  ) throws -> [EarlierEntries] {
    let known = trail.known(records)
    let unknown = zip(records, known).compactMap { $1 == nil ? $0 : nil }
    let storage = storage
    var found = try AllProcessors.map(unknown.count) { range in
      try storage.read { reader in try trail.lookUp(Array(unknown[range]), once: once, in: reader) }
    }[...]
    return known.compactMap { $0 ?? found.popFirst() }
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
    let encoded = ConcurrentWork.parts(plan.bundles) {
      try plan.encode($0, of: records, erasureKeys: erasureKeys)
    }
    if !plan.steps.isEmpty { noteWriter() }
    for bundle in encoded { try enter(bundle.take(), &unsavedFrom, in: writer) }
    try writeTail(from: unsavedFrom, in: writer)
    if !plan.steps.isEmpty {
      head.root = frontier.root
      try writeHead(in: writer)
    }
    return plan.acknowledgements
  }

  /// Enters records that the trail itself makes.
  mutating func append(own records: [AuditRecord], in writer: any StorageWriter) throws
    -> [AuditAcknowledgement]
  {
    let records = PreparedRecord.prepare(records, context.keys.fingerprints)
    let found = try lookUp(records, once: .forever, in: writer)
    return try append(records, found: found, once: .forever, in: writer)
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

  /// Returns the related entries of each record for which nothing has to be read.
  ///
  /// Such a record was looked up in the same runs before, and only the entries in memory remain to be searched. Returns
  /// `nil` for any other record.
  fileprivate func known(_ records: [PreparedRecord]) -> [EarlierEntries?] {
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
}
