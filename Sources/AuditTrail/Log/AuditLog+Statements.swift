// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex

extension AuditLog {
  /// Erases the erasable part of an entry: the receipt and the customer's token. The entry itself, its hash and
  /// every proof stay as they are; that it was erased, and when, is itself an entry, entered in the same
  /// transaction.
  ///
  /// - Returns: Where the erasure stands.
  /// - Throws: ``AuditError/Code/noSuchEntry`` where there is no such entry, it never had an erasable part, or it
  ///   was erased already.
  @discardableResult
  public func erase(entry index: UInt64) throws(AuditError) -> AuditAcknowledgement {
    let now = Self.milliseconds(options.clock())
    let acknowledgement = try change { writer throws(AuditError) in
      try writer.write { state, storage in try state.erase(index, now: now, in: storage) }
    }
    do { try storage.scrub() } catch {
      throw AuditError(
        .storageUnavailable, at: "entry \(index)",
        "The entry was erased, but traces may be left in the storage's own logs: \(error). Ask to scrub it again."
      )
    }
    return acknowledgement
  }

  /// Enters a statement of which entry of an original transaction is the newest, and how many there are. From then on
  /// nobody can leave one of them out unnoticed: the statement leads to the newest, and each leads to the one before.
  ///
  /// - Returns: Where the statement stands.
  @discardableResult
  public func anchor(original: String) throws(AuditError) -> AuditAcknowledgement {
    let now = Self.milliseconds(options.clock())
    return try change { writer throws(AuditError) in
      try writer.write { state, storage in try state.anchor(original, now: now, in: storage) }
    }
  }
}

extension TrailState {
  mutating func erase(_ index: UInt64, now: Int64, in writer: any StorageWriter) throws
    -> AuditAcknowledgement
  {
    let entries = StoredEntries(reader: writer)
    guard index < head.size, let bytes = try entries.entry(at: index) else {
      throw AuditError(
        .noSuchEntry, at: "entry \(index)", "The trail has \(head.size) entries; the first is entry 0.")
    }
    let entry = try RecordedEntry(index: index, bytes: bytes).entry
    guard entry.commitment != nil else {
      throw AuditError(.noSuchEntry, at: "entry \(index)", "The entry has no erasable part.")
    }
    let erasable = try entries.erasable(at: index)
    guard !ErasablePart.isErased(erasable.span) else {
      throw AuditError(.noSuchEntry, at: "entry \(index)", "The entry's erasable part was erased already.")
    }
    if let customer = try ErasablePart.tokenRange(in: erasable.span) {
      let fingerprint = key.fingerprint(.customer, erasable.span.extracting(customer))
      try self.index.remove(
        .customer, [IndexRecord(fingerprint: fingerprint, index: index)], in: WritableIndexRows(base: writer))
      head.indexRoot = self.index.root
    }
    try overwrite(index, count: erasable.count, in: writer)
    let record = AuditRecord(
      EntryFacts(time: now, kind: .erasure, original: entry.original, erased: index))
    return try append(record, in: writer)
  }

  /// Enters one record.
  private mutating func append(_ record: AuditRecord, in writer: any StorageWriter) throws
    -> AuditAcknowledgement
  {
    let records = PreparedRecord.prepare([record], key)
    let found = try lookUp(records, once: .forever, in: writer)
    return try append(records, found: found, once: .forever, in: writer)[0]
  }

  private mutating func overwrite(_ index: UInt64, count: Int, in writer: any StorageWriter) throws {
    let zeros = [UInt8](repeating: 0, count: count)
    let (bundle, position) = StoredEntries.place(of: index)
    let entries = StoredEntries(reader: writer)
    if let layout = try entries.layout(of: bundle) {
      if layout.ownRows[position] {
        try writer.overwrite(.payloads, Int64(index), at: 0, with: zeros)
      } else {
        try writer.overwrite(.bundles, bundle, at: layout.erasables[position].lowerBound, with: zeros)
      }
    } else {
      let stored = tail[position]
      if stored.hasOwnRow {
        try writer.overwrite(.payloads, Int64(index), at: 0, with: zeros)
      } else {
        let row = TailRow.encode(stored)
        try writer.overwrite(.tail, Int64(index), at: row.count - count, with: zeros)
        tail.erase(position)
      }
    }
  }

  mutating func anchor(_ original: String, now: Int64, in writer: any StorageWriter) throws
    -> AuditAcknowledgement
  {
    let name = key.checkedFingerprint(.original, EntryText.encoded(original).span)
    let newest = try index.newest(
      .original, name.fingerprint, check: name.check, before: head.size, in: IndexRows(base: writer))
    var count: UInt64 = 0
    var next = newest
    while let index = next {
      count += 1
      let previous = try Self.keys(of: bytes(of: index, in: writer), at: index).previous
      guard previous ?? 0 < index || index == 0 else { throw StoredEntries.missing(index) }
      next = previous
    }
    let record = AuditRecord(
      EntryFacts(
        time: now, kind: .anchor, original: original, size: head.size, newest: newest, count: count))
    return try append(record, in: writer)
  }
}
