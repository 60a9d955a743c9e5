// SPDX-License-Identifier: Apache-2.0

/// Compares the keys of a trail's erasable parts with its erasures, in both directions: a key must be missing if and
/// only if an entry records that its part was erased.
///
/// Every operation that puts a whole trail in place ends with this comparison: an import, a migration, the restoring of
/// keys. Opening and reading check only the entries that they read.
struct ErasureAgreement {
  private var keys: ErasureKeys
  private var forgotten: Set<UInt64> = []
  /// Maps each erased entry to the entry that records its erasure.
  private var erasures: [UInt64: UInt64] = [:]
  /// The entries that replaced the trail's key, whose proofs a copy must keep.
  private(set) var successions: [UInt64] = []

  /// Reads keys through `reader`, which must show a single state.
  init(_ reader: any StorageReader) { keys = ErasureKeys(reader) }

  mutating func add(_ entry: [UInt8], at index: UInt64) throws {
    let facts = try TrailState.keys(of: entry, at: index)
    if facts.commitment != nil, try keys.key(of: index) == nil { forgotten.insert(index) }
    if let erased = facts.erasure(in: entry.span) { erasures[erased] = index }
    if facts.isOf(.key, in: entry.span) { successions.append(index) }
  }

  /// Finds the erased entries whose keys still exist, in order.
  mutating func undone() throws -> [UInt64] {
    var found: [UInt64] = []
    for entry in erasures.keys.sorted() where try keys.key(of: entry) != nil { found.append(entry) }
    return found
  }

  /// Checks that the keys and the erasures agree; an erasure may be missing unless all entries were added.
  mutating func require(isWhole: Bool = true) throws {
    if isWhole, let unconfirmed = forgotten.filter({ erasures[$0] == nil }).min() {
      throw EntryLookup.unconfirmed(unconfirmed)
    }
    if let entry = try undone().first, let erasure = erasures[entry] {
      throw EntryLookup.keyIsBack(of: entry, erasure: erasure)
    }
  }
}

extension EntryIndexKeys {
  /// The entry whose erasure this entry records; `nil` if it is no erasure.
  func erasure(in entry: Span<UInt8>) -> UInt64? { isOf(.erasure, in: entry) ? erased : nil }
}

extension TrailState {
  /// Compares all keys with all erasures, which reads every entry.
  func erasureAgreement(in reader: any StorageReader) throws -> ErasureAgreement {
    var agreement = ErasureAgreement(reader)
    try entries(in: reader).forEach(in: 0..<head.size) { try agreement.add($1.entry, at: $0) }
    return agreement
  }

  /// Carries out erasures that this copy of the trail has only as entries; the storage must be scrubbed afterwards.
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
    for index in indexes { try writer.remove(.payloads, in: Int64(index)...Int64(index), erasing: true) }
    for (bundle, indexes) in Dictionary(grouping: indexes, by: { Int64($0 >> 8) }) {
      let positions = Set(indexes.map { Int($0 & 255) })
      let isWhole = bundle < Int64(head.size >> 8)
      let row = isWhole ? try writer.value(.bundles, bundle) : nil
      if isWhole, row == nil { throw StoredRows.missing(indexes[0]) }
      let stored =
        try row.map { try StoredRows.entries(of: $0, bundle: bundle) } ?? (0..<tail.count).map { tail[$0] }
      var entries = BundleEntries()
      for (position, var entry) in stored.enumerated() {
        if positions.contains(position) { (entry.erasable, entry.isOutOfLine) = ([], false) }
        entries.append(entry)
      }
      if let row {
        var new = Array(row[..<BundleRow.groupedTileByteCount])
        entries.append(to: &new)
        try writer.put(.bundles, bundle, new)
      } else {
        tail = entries
        for index in indexes { try writer.put(.tail, Int64(index), TailRow.encode(tail[Int(index & 255)])) }
      }
    }
  }
}
