// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

extension AuditLog {
  /// Enters a statement that names the newest entry of an original transaction and counts its entries.
  ///
  /// From then on none of these entries can be omitted unnoticed: the statement leads to the newest, and each entry
  /// leads to the one before it.
  ///
  /// All of these entries are read and verified first.
  ///
  /// - Returns: The acknowledgement of the statement.
  /// - Throws: ``AuditError/Code/tampered`` if one of the entries is not what was recorded.
  @discardableResult
  package func anchor(original: String) async throws(AuditError) -> AuditAcknowledgement {
    try requirePublishing()
    let now = Self.milliseconds(options.clock())
    return try await blocking { log throws(AuditError) in
      try log.change { writer throws(AuditError) in
        try writer.write { state, storage in try state.anchor(original, now: now, in: storage) }
      }
    }
  }
}

extension TrailState {
  fileprivate mutating func anchor(_ original: String, now: Int64, in writer: any StorageWriter) throws
    -> AuditAcknowledgement
  {
    let line = PurchaseHistory(
      original: original, index: index.snapshot(size: head.size), key: context.keys.fingerprints,
      entries: entries(in: writer))
    var count: UInt64 = 0
    var newest: UInt64?
    try line.forEach { recorded in
      newest = newest ?? recorded.index
      count += 1
      return true
    }
    let record = AuditRecord(
      EntryFacts(
        time: now, kind: .anchor, original: original, size: head.size, newest: newest, count: count))
    return try append([record], in: writer)[0]
  }
}

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
