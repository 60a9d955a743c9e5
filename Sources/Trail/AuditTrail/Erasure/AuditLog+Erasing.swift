// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex

extension AuditLog {
  /// The number of entries that are erased in one transaction.
  ///
  /// Others write between these transactions, and wait no longer than about four hundred milliseconds if the storage is
  /// slow.
  private struct SliceLength {
    private(set) var count = 256

    mutating func adapt(to duration: Duration) {
      if duration > .milliseconds(400) { count = max(32, count / 2) }
      if duration < .milliseconds(150) { count = min(512, count * 2) }
    }
  }

  /// Erases the erasable parts of entries: the receipts and the customers' tokens.
  ///
  /// The entries themselves, their hashes and every proof stay unchanged. Each erasure and its time are recorded in an
  /// entry, in the same transaction.
  ///
  /// A part is erased by forgetting the key that it is encrypted with. It is then erased for every process, and in
  /// every copy that holds no keys. The index records that name its customer are removed too. An entry that was erased
  /// before is acknowledged as a repeat. If this throws, some of the entries may have been erased: call it again with
  /// all of them.
  ///
  /// - Parameters:
  ///   - indexes: The entries, in any order.
  ///   - progress: Called periodically with the number of entries that are done.
  /// - Returns: The acknowledgement of each entry's erasure.
  /// - Throws: ``AuditError``: ``AuditError/Code/noSuchEntry`` if an entry does not exist, or never had an erasable
  ///   part; ``AuditError/Code/storageUnavailable`` if traces of the keys may be left in the storage's own logs.
  @discardableResult
  public func erase(
    entries indexes: [UInt64], progress: @Sendable (Int) -> Void = { _ in }
  ) async throws(AuditError) -> [AuditAcknowledgement] {
    let now = Self.milliseconds(options.clock())
    let entries = Set(indexes).sorted()
    var erasures: [UInt64: AuditAcknowledgement] = [:]
    var rest = entries[...]
    var length = SliceLength()
    while !rest.isEmpty {
      let slice = Array(rest.prefix(length.count))
      rest = rest.dropFirst(slice.count)
      let start = ContinuousClock.now
      let entered = try await blocking { log throws(AuditError) in
        try log.change { writer throws(AuditError) in
          try writer.writeUnsynchronized { state, storage in try state.erase(slice, now: now, in: storage) }
        }
      }
      for (index, erasure) in zip(slice, entered) { erasures[index] = erasure }
      length.adapt(to: .now - start)
      progress(erasures.count)
      // Others that wait for the storage's lock try it periodically, and must find it free.
      if !rest.isEmpty { try? await Task.sleep(for: .milliseconds(10)) }
    }
    try await blocking { log throws(AuditError) in
      while try log.removeUnfinishedIndex() {}
      try log.synchronizeAll()
      try log.scrub()
    }
    scheduleCheckpoint()
    return indexes.compactMap { erasures[$0] }
  }

  /// Erases the erasable part of one entry.
  ///
  /// - Returns: The acknowledgement of the erasure.
  /// - Throws: As ``erase(entries:progress:)``.
  @discardableResult
  package func erase(entry index: UInt64) async throws(AuditError) -> AuditAcknowledgement {
    let erasures = try await erase(entries: [index])
    guard let erasure = erasures.first else {
      throw AuditError(.noSuchEntry, at: "entry \(index)", "It is not there.")
    }
    return erasure
  }

  /// Removes some rows of a reindexing that is in progress or was interrupted, which may name the customers.
  ///
  /// Returns `true` if more may be left.
  private func removeUnfinishedIndex() throws(AuditError) -> Bool {
    try change { writer throws(AuditError) in
      try writer.writeUnsynchronized { state, storage in
        try IndexRebuild.removeUnfinished(
          beside: state.head.indexRoot, in: WritableIndexRows(base: storage))
      }
    }
  }

  private func scrub() throws(AuditError) {
    do { try storage.scrub() } catch {
      throw AuditError(
        .storageUnavailable, at: "keys",
        "The entries were erased, but traces of their keys may be left in the storage's own logs: \(error) Erase them "
          + "again, which only removes the traces.")
    }
  }
}

extension TrailState {
  /// Erases entries, in ascending order.
  mutating func erase(_ indexes: [UInt64], now: Int64, in writer: any StorageWriter) throws
    -> [AuditAcknowledgement]
  {
    let entries = entries(in: writer)
    let erasures = ErasureLookup(
      index: index.snapshot(size: head.size), key: context.keys.fingerprints, entries: entries)
    var parts = ErasableParts(writer)
    var acknowledgements: [AuditAcknowledgement?] = []
    var forgotten = ForgottenParts()
    var erased: [(index: UInt64, original: String?)] = []
    for index in indexes {
      let stored = try entries.entryWithLengths(at: index)
      let entry = try RecordedEntry(index: index, bytes: stored.entry).entry
      guard let commitment = entry.commitment else {
        throw AuditError(.noSuchEntry, at: "entry \(index)", "The entry has no erasable part.")
      }
      let erasure = try erasures.erasure(of: index)
      acknowledgements.append(erasure.map { AuditAcknowledgement(index: $0, isRepeat: true) })
      do {
        guard let bytes = try parts.bytes(at: index, lengths: stored.lengths, commitment: commitment) else {
          guard erasure != nil else { throw ErasureLookup.unconfirmed(index) }
          continue
        }
        // Erased entries are included: their keys may have come back with older copies of the keys.
        try forgotten.add(index, bytes.span, context.keys.fingerprints)
      } catch let error as AuditError where error.code == .tampered && erasure != nil {
        // The key is back, but the stored bytes are not the part.
        forgotten.add(index)
      }
      if erasure == nil { erased.append((index, entry.original)) }
    }
    try forget(forgotten, in: writer)
    let records = erased.map { erased in
      AuditRecord(EntryFacts(time: now, kind: .erasure, original: erased.original, erased: erased.index))
    }
    var entered = try append(records, in: writer)[...]
    return acknowledgements.compactMap { $0 ?? entered.popFirst() }
  }

  /// Forgets the keys of erasable parts, and removes the index records that name their customers.
  mutating func forget(_ forgotten: ForgottenParts, in writer: any StorageWriter) throws {
    try ErasureKeys.forget(forgotten.entries, in: writer)
    try index.remove(.customer, forgotten.customers, in: WritableIndexRows(base: writer))
    guard head.indexRoot != index.root else { return }
    head.indexRoot = index.root
    try writeHead(in: writer)
  }

  /// Enters records that the trail itself makes.
  mutating func append(_ records: [AuditRecord], in writer: any StorageWriter) throws
    -> [AuditAcknowledgement]
  {
    let records = PreparedRecord.prepare(records, context.keys.fingerprints)
    let found = try lookUp(records, once: .forever, in: writer)
    return try append(records, found: found, once: .forever, in: writer)
  }
}

/// Erasable parts whose keys are to be forgotten, with their index records.
struct ForgottenParts {
  /// The entries in ascending order, as they were added.
  private(set) var entries: [UInt64] = []
  private(set) var customers: [IndexRecord] = []

  /// Adds a part that cannot be read any more.
  mutating func add(_ index: UInt64) { entries.append(index) }

  /// Adds a part.
  mutating func add(_ index: UInt64, _ part: Span<UInt8>, _ key: IndexKey) throws {
    add(index)
    guard let token = try ErasablePart.tokenRange(in: part) else { return }
    let fingerprint = key.fingerprint(.customer, part.extracting(token))
    customers.append(IndexRecord(fingerprint: fingerprint, index: index))
  }
}
