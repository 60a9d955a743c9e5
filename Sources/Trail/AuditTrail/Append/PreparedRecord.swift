// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto

/// A record with everything that can be computed before its turn, so that one batch is prepared while another is
/// stored.
struct PreparedRecord {
  let record: AuditRecord
  let fingerprints: EntryFingerprints
  /// The related entries in the runs of the index, and its version; `nil` if the runs were not searched.
  var inRuns: (version: UInt64, earlier: EarlierEntries)?

  /// Computes the fingerprints of records, on all processors if there are many.
  static func records(_ records: [AuditRecord], _ key: IndexKey) -> [PreparedRecord] {
    AllProcessors.map(records.count) { range in
      range.map { PreparedRecord(record: records[$0], fingerprints: EntryFingerprints(records[$0], key)) }
    }
  }
}

extension TrailWriter {
  /// Prepares records, on all processors if there are many, and looks them up in the runs of the index.
  ///
  /// Most of the time of an append is spent reading existing records. The runs never change, so they are read while
  /// others write. Records are looked up later if runs were merged and removed meanwhile, or cannot be read; in the
  /// latter case the append throws the error.
  func prepare(_ records: [AuditRecord]) -> [PreparedRecord] {
    let state = states.written
    let (runs, edge) = (state.index.withoutMemory, state.frontier)
    let unsearched = PreparedRecord.records(records, context.keys.fingerprints)
    // In the order of the runs, so that a page is read once for all records that have neighbours in it.
    let order = unsearched.indices.map {
      IndexRecord(fingerprint: unsearched[$0].fingerprints.original ?? 0, index: UInt64($0))
    }.sortedByFingerprint().map { Int($0.index) }
    let found = AllProcessors.map(order.count) { [storage, context] range -> [EarlierEntries?] in
      let earlier = try? storage.read { reader in
        let search = EarlierEntriesSearch(
          index: runs, once: context.keys.configuration.once, reader: IndexRows(base: reader),
          entries: StoredEntries(StoredTiles(reader: reader, edge: edge, cache: context.nodes)))
        return try search.find(order[range].map { unsearched[$0] })
      }
      return earlier ?? range.map { _ in nil }
    }
    var prepared = unsearched
    for (number, earlier) in zip(order, found) {
      prepared[number].inRuns = earlier.map { (runs.version, $0) }
    }
    return prepared
  }
}

/// Finds the entries of an index that are related to records, on several threads at a time.
struct EarlierEntriesSearch {
  let index: IndexSnapshot
  let once: TrailConfiguration.OnceWindow
  let reader: any IndexReader
  /// The entries that the index covers.
  let entries: StoredEntries

  /// Looks records up, and returns the earlier entries of each, in order.
  func find(_ records: [PreparedRecord]) throws -> [EarlierEntries] {
    // In one read of the storage, the rows that the lookups read one by one.
    try index.prefetch(in: reader) {
      records.flatMap { prepared in
        [
          prepared.fingerprints.receipt.map { (.receipt, $0, 0) },
          prepared.fingerprints.original.map { (.original, $0, prepared.fingerprints.originalCheck) },
        ].compactMap { $0 }
      }
    }
    return try records.map { prepared in
      var earlier = EarlierEntries(first: try repeated(prepared))
      if earlier.first == nil, let original = prepared.fingerprints.original {
        // The index is trusted without reading the entry: see IndexKind.hasCheck.
        earlier.previous = try index.newest(
          .original, original, check: prepared.fingerprints.originalCheck, in: reader)
      }
      return earlier
    }
  }

  private func repeated(_ prepared: PreparedRecord) throws -> UInt64? {
    guard let receipt = prepared.fingerprints.receipt, index.mayContain(.receipt, receipt) else { return nil }
    var candidates = index.candidates(.receipt, receipt, in: reader)
    var wanted: SHA256Digest?
    while let candidate = try candidates.next() {
      let entry = try entries.entry(at: candidate)
      let keys = try TrailState.keys(of: entry, at: candidate)
      guard once.covers(keys.time, at: prepared.record.facts.time) else { return nil }
      if wanted == nil {
        // A record that is never a repeat has no key. Neither have entries with its fingerprint, and two missing keys
        // are not equal.
        guard let key = ExactlyOnce.key(prepared.record.facts) else { return nil }
        wanted = key
      }
      if ExactlyOnce.key(keys, in: entry) == wanted { return candidate }
    }
    return nil
  }
}
