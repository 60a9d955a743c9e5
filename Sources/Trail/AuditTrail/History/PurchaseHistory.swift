// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// The entries of an original transaction, newest first: each leads to the one before it.
struct PurchaseHistory {
  let original: String
  let index: IndexSnapshot
  let key: IndexKey
  let entries: StoredEntries

  /// Calls `body` with the entries below `before`, newest first, until `body` returns `false`.
  ///
  /// - Throws: ``AuditError/Code/tampered`` if an entry is not what was recorded, or leads to a wrong one;
  ///   ``StorageError``.
  func forEach(before: UInt64 = .max, _ body: (RecordedEntry) throws -> Bool) throws {
    let name = EntryText.encoded(original)
    let checked = key.checkedFingerprint(.original, name.span)
    var next = try index.newest(
      .original, checked.fingerprint, check: checked.check, before: min(before, entries.tiles.edge.size),
      in: IndexRows(base: entries.tiles.reader))
    while let index = next {
      let recorded = try RecordedEntry(index: index, bytes: entries.entry(at: index))
      guard recorded.entry.original.map(EntryText.encoded) == name,
        recorded.entry.previous.map({ $0 < index }) ?? true
      else {
        throw AuditError(
          .tampered, at: "entry \(index)", "The line of \(original) leads to an entry of another.")
      }
      guard try body(recorded) else { return }
      next = recorded.entry.previous
    }
  }
}
