// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto

/// The earlier entries that are related to a record.
struct EarlierEntries {
  /// The entry that the record repeats.
  var first: UInt64?
  /// The newest entry of the same original transaction.
  var previous: UInt64?
}

/// Finds the entries of an index that are related to records.
///
/// It may be used on several threads at a time.
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

  /// Returns the first entry that the record repeats.
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
