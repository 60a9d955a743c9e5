// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes

/// A record with everything that can be computed before its turn, so that one batch is prepared while another is
/// stored.
struct PreparedRecord {
  let record: AuditRecord
  let fingerprints: EntryFingerprints
  /// The related entries that the runs of the index contain, and the version of the index.
  ///
  /// The entries that were in memory at that time, and those entered since, are still to be searched. It is `nil` if
  /// the runs were not searched.
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
