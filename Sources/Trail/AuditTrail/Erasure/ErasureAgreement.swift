// SPDX-License-Identifier: Apache-2.0

/// Compares the keys of a trail's erasable parts with its erasures, in both directions: a key is missing exactly if an
/// entry says that its part was erased.
///
/// Whatever puts a whole trail in its place ends with it: an import, a migration, keys that are restored. Opening and
/// reading check single entries only, as far as they come to them.
struct ErasureAgreement {
  private var keys: ErasureKeys
  private var forgotten: Set<UInt64> = []
  /// By the entry that was erased, the entry that says so.
  private var erasures: [UInt64: UInt64] = [:]
  /// The entries by which the trail's key was replaced; a copy has to keep their proofs.
  private(set) var successions: [UInt64] = []

  /// Reads keys through `reader`, which must be of one state.
  init(_ reader: any StorageReader) { keys = ErasureKeys(reader) }

  /// Takes in an entry.
  ///
  /// - Throws: ``AuditError/Code/tampered`` if it cannot be read or a row of keys is damaged; ``StorageError``.
  mutating func add(_ entry: [UInt8], at index: UInt64) throws {
    let facts = try TrailState.keys(of: entry, at: index)
    if facts.commitment != nil, try keys.key(of: index) == nil { forgotten.insert(index) }
    if let erased = facts.erasure(in: entry.span) { erasures[erased] = index }
    if facts.isOf(.key, in: entry.span) { successions.append(index) }
  }

  /// Finds the entries that were erased and whose keys are there all the same.
  ///
  /// - Returns: The entries, in order.
  /// - Throws: As ``add(_:at:)``.
  mutating func undone() throws -> [UInt64] {
    var found: [UInt64] = []
    for entry in erasures.keys.sorted() where try keys.key(of: entry) != nil { found.append(entry) }
    return found
  }

  /// Requires that both agree.
  ///
  /// - Parameter isWhole: Whether all entries were taken in; otherwise an erasure may be among those that were not.
  /// - Throws: ``AuditError/Code/tampered`` with the first entry on which they do not agree; ``StorageError``.
  mutating func require(isWhole: Bool = true) throws {
    if isWhole, let unconfirmed = forgotten.filter({ erasures[$0] == nil }).min() {
      throw ErasureLookup.unconfirmed(unconfirmed)
    }
    if let entry = try undone().first, let erasure = erasures[entry] {
      throw ErasureLookup.keyIsBack(of: entry, erasure: erasure)
    }
  }
}

extension EntryIndexKeys {
  /// The entry that this one says was erased; `nil` if it is no erasure.
  func erasure(in entry: Span<UInt8>) -> UInt64? { isOf(.erasure, in: entry) ? erased : nil }
}

extension TrailState {
  /// Compares all keys with all erasures. Reads every entry.
  func erasureAgreement(in reader: any StorageReader) throws -> ErasureAgreement {
    var agreement = ErasureAgreement(reader)
    try entries(in: reader).forEach(in: 0..<head.size) { try agreement.add($1.entry, at: $0) }
    return agreement
  }

  /// Carries out erasures that this copy of the trail has only as entries: afterwards it has neither the keys nor the
  /// sealed parts, as if the parts had been erased before they were copied.
  ///
  /// - Parameters:
  ///   - erased: The entries whose parts are to go, in ascending order.
  ///   - writer: The transaction. The storage must be scrubbed afterwards.
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  mutating func carryOutErasures(of erased: [UInt64], in writer: any StorageWriter) throws {
    let entries = entries(in: writer)
    var parts = ErasableParts(writer)
    var forgotten = ForgottenParts()
    for index in erased {
      let stored = try entries.entryWithLengths(at: index)
      guard let commitment = try Self.keys(of: stored.entry, at: index).commitment else {
        throw AuditError(
          .tampered, at: "entry \(index)",
          "An entry says that its erasable part was erased; it never had one.")
      }
      if let bytes = try parts.bytes(at: index, lengths: stored.lengths, commitment: commitment) {
        try forgotten.add(index, bytes.span, context.keys.fingerprints)
      }
    }
    try forget(forgotten, in: writer)
    try removeSealedParts(of: erased, in: writer)
  }

  private mutating func removeSealedParts(of indexes: [UInt64], in writer: any StorageWriter) throws {
    func withoutPart(_ stored: StoredEntry) -> StoredEntry {
      StoredEntry(entry: stored.entry, erasable: [], isOutOfLine: false)
    }
    for index in indexes { try writer.remove(.payloads, in: Int64(index)...Int64(index), erasing: true) }
    for (bundle, indexes) in Dictionary(grouping: indexes, by: { Int64($0 >> 8) }) {
      let positions = Set(indexes.map { Int($0 & 255) })
      var entries = BundleEntries()
      guard bundle < Int64(head.size >> 8) else {
        for position in 0..<tail.count {
          entries.append(positions.contains(position) ? withoutPart(tail[position]) : tail[position])
        }
        tail = entries
        for index in indexes { try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)])) }
        continue
      }
      guard let row = try writer.value(.bundles, bundle) else { throw StoredRows.missing(indexes[0]) }
      for (position, stored) in try StoredRows.entries(of: row, bundle: bundle).enumerated() {
        entries.append(positions.contains(position) ? withoutPart(stored) : stored)
      }
      try writer.put(.bundles, bundle, BundleRow.encode(hashesOf: row, entries))
    }
  }
}
