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

  /// Prefetches, in one read of the storage, the rows that the lookup of records reads one by one.
  func prefetch(_ fingerprints: some Sequence<EntryFingerprints>) throws {
    try index.prefetch(in: reader) {
      fingerprints.flatMap { fingerprints in
        [
          fingerprints.receipt.map { (.receipt, $0, 0) },
          fingerprints.original.map { (.original, $0, fingerprints.originalCheck) },
        ].compactMap { $0 }
      }
    }
  }

  /// Looks a record up.
  ///
  /// Its facts are expensive to copy, and needed only if the index may contain the receipt.
  func find(_ fingerprints: EntryFingerprints, _ facts: @autoclosure () -> EntryFacts) throws
    -> EarlierEntries
  {
    var earlier = EarlierEntries()
    if let receipt = fingerprints.receipt, index.mayContain(.receipt, receipt) {
      var candidates = index.candidates(.receipt, receipt, in: reader)
      earlier.first = try repeated(facts(), &candidates)
    }
    if earlier.first == nil, let original = fingerprints.original {
      // The index is trusted without reading the entry: see IndexKind.hasCheck.
      earlier.previous = try index.newest(.original, original, check: fingerprints.originalCheck, in: reader)
    }
    return earlier
  }

  /// Returns the first candidate that the record repeats.
  private func repeated(_ facts: EntryFacts, _ candidates: inout IndexCandidates) throws -> UInt64? {
    var wanted: SHA256Digest?
    while let candidate = try candidates.next() {
      let entry = try entries.entry(at: candidate)
      let keys = try TrailState.keys(of: entry, at: candidate)
      guard once.covers(keys.time, at: facts.time) else { return nil }
      if wanted == nil {
        // A record that is never a repeat has no key. Neither have entries with its fingerprint, and two missing keys
        // are not equal.
        guard let key = ExactlyOnce.key(facts) else { return nil }
        wanted = key
      }
      if ExactlyOnce.key(keys, in: entry) == wanted { return candidate }
    }
    return nil
  }
}
