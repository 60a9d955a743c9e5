// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// Finds entries by the index, each verified against the tree.
struct EntryLookup {
  let index: IndexSnapshot
  let key: IndexKey
  let entries: StoredEntries

  /// Calls `body` with the entries of an original transaction below `before`, newest first, until it returns `false`.
  func forEach(
    of original: String, before: UInt64 = .max, _ body: (RecordedEntry) throws -> Bool
  ) throws {
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

  /// Returns the erasure of the entry at `erased`; `nil` if it was not erased.
  func erasure(of erased: UInt64) throws -> UInt64? {
    var candidates = index.candidates(
      .receipt, EntryFingerprints.erasure(of: erased, key), in: IndexRows(base: entries.tiles.reader))
    while let candidate = try candidates.next() {
      let entry = try RecordedEntry(index: candidate, bytes: entries.entry(at: candidate)).entry
      if entry.kind == .erasure, entry.erased == erased { return candidate }
    }
    return nil
  }

  /// Checks that an entry records the erasure of a part whose key is missing.
  func requireErasure(of forgotten: UInt64) throws {
    guard try erasure(of: forgotten) == nil else { return }
    throw Self.unconfirmed(forgotten)
  }

  static func unconfirmed(_ forgotten: UInt64) -> AuditError {
    AuditError(
      .tampered, at: "entry \(forgotten)",
      "The key of its erasable part is gone, and no entry says that it was erased; restore the keys.")
  }

  static func keyIsBack(of erased: UInt64, erasure: UInt64) -> AuditError {
    AuditError(
      .tampered, at: "entry \(erased)",
      "Entry \(erasure) says that its erasable part was erased; its key is back.")
  }
}
