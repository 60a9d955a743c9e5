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
}
