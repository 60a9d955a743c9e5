// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCrypto
internal import TransparencyLog

/// A stored bundle, or the entries after the last bundle, checked on its own.
struct CheckedBundle {
  var entries: CheckedEntries
  var outOfLine: [UInt64] = []
  var sums: IndexHashes
  let isFull: Bool
  private let hasKeys: Bool
  /// The root of a full bundle's entries.
  private(set) var root = TreeHash.empty

  /// Checks the entries of a bundle, or fewer ones that are not in a bundle yet.
  init(
    _ range: Range<UInt64>, _ reader: any StorageReader, _ sums: IndexHashes, hasKeys: Bool
  ) throws {
    entries = CheckedEntries(first: range.lowerBound)
    self.sums = sums
    self.hasKeys = hasKeys
    isFull = range.count == BundleRow.entryCount
    try isFull ? checkBundle(from: range.lowerBound, reader) : checkTail(range, reader)
  }

  private mutating func checkBundle(from first: UInt64, _ reader: any StorageReader) throws {
    let bundle = Int64(first >> 8)
    let row: [UInt8]
    let names = "The entries \(first) to \(first + 255)"
    do {
      guard let stored = try reader.value(.bundles, bundle) else {
        return fail(.missingEntry, first, "\(names) are missing: there is no bundle \(bundle).")
      }
      row = stored
    } catch let error as StorageError where error.code == .corrupt {
      return fail(.missingEntry, first, "\(names) cannot be read. At \(error.place): \(error.message)")
    }
    guard let layout = BundleRow.Layout(row: row) else {
      return fail(
        .missingEntry, first, "The bundle \(bundle) of the entries \(first) to \(first + 255) is damaged.")
    }
    var parts = ErasableParts(reader)
    for position in 0..<BundleRow.entryCount {
      let index = first + UInt64(position)
      try add(
        row.span.extracting(layout.entries[position]), sealed: Array(row[layout.erasables[position]]),
        isOutOfLine: layout.outOfLine[position], at: index, reader, &parts)
      let stored = row[position * TreeHash.byteCount..<(position + 1) * TreeHash.byteCount]
      if entries.hashes[position] != TreeHash(stored) {
        entries.faults.add(
          .alteredEntry, entry: index, "The entry does not have the hash that the tree has at its place.")
      }
    }
    let roots = TreeHash.hashes(in: Array(row[BundleRow.tileByteCount..<BundleRow.groupedTileByteCount]))
    let groupRoots = GroupedTile.groupRoots(of: entries.hashes)
    for group in groupRoots.indices where groupRoots[group] != roots[group] {
      fail(
        .alteredTile, first + UInt64(group * GroupedTile.groupWidth),
        "The root over this entry and the \(GroupedTile.groupWidth - 1) after it is not that of their hashes."
      )
    }
    root = TreeHash.root(ofComplete: groupRoots[...])
  }

  private mutating func checkTail(_ range: Range<UInt64>, _ reader: any StorageReader) throws {
    var parts = ErasableParts(reader)
    for index in range {
      guard let row = try reader.value(.tail, Int64(index)) else {
        return fail(.missingEntry, index, "The entry is missing.")
      }
      guard let stored = TailRow.decode(row) else {
        return fail(.missingEntry, index, "The row of the entry is damaged.")
      }
      try add(
        stored.entry.span, sealed: stored.erasable, isOutOfLine: stored.isOutOfLine, at: index, reader, &parts
      )
      if entries.hashes.last != TailRow.hash(row) {
        fail(.alteredEntry, index, "The entry does not have the leaf hash that was stored with it.")
      }
    }
  }

  private mutating func fail(_ code: TrailFault.Code, _ index: UInt64, _ message: String) {
    entries.faults.add(code, entry: index, message)
  }

  private mutating func add(
    _ entry: Span<UInt8>, sealed: [UInt8], isOutOfLine: Bool, at index: UInt64, _ reader: any StorageReader,
    _ parts: inout ErasableParts
  ) throws {
    if isOutOfLine { outOfLine.append(index) }
    guard let keys = entries.add(entry) else { return }
    guard let commitment = keys.commitment else {
      if isOutOfLine || !sealed.isEmpty {
        fail(.alteredErasablePart, index, "There is an erasable part, and the entry commits to none.")
      }
      return sums.add(entry, erasable: [], keys, at: index)
    }
    var erasable: [UInt8]?
    do {
      let sealed = isOutOfLine ? try reader.value(.payloads, Int64(index)) ?? [] : sealed
      erasable = hasKeys ? try parts.bytes(of: sealed, at: index, commitment: commitment) : nil
      if hasKeys, erasable == nil { entries.noteErased() }
    } catch let error as AuditError {
      fail(.alteredErasablePart, index, error.message)
    }
    sums.add(entry, erasable: erasable ?? [], keys, at: index)
  }
}

/// The multiset hashes, by kind, of the index records that entries should have. They are compared with those of the
/// index.
struct IndexHashes {
  private(set) var byKind = [MultisetHash](repeating: MultisetHash(), count: IndexKind.allCases.count)
  private let key: IndexKey
  private let points: MultisetHash.Points
  private let indexedSize: UInt64
  /// The products of the bundle, which has one index record for each.
  private var products: Set<UInt64> = []

  init(_ key: IndexKey, _ points: MultisetHash.Points, indexedSize: UInt64) {
    self.key = key
    self.points = points
    self.indexedSize = indexedSize
  }

  /// Adds the index records of an entry. Each bundle needs hashes of its own.
  mutating func add(
    _ entry: Span<UInt8>, erasable: [UInt8], _ keys: EntryIndexKeys, at index: UInt64
  ) {
    guard index < indexedSize,
      let fingerprints = try? EntryFingerprints(entry, erasable: erasable.span, keys, key)
    else { return }
    add(.receipt, fingerprints.receipt, index)
    add(.receipt, fingerprints.receiptBesideId, index)
    add(.original, fingerprints.original, index, check: fingerprints.originalCheck)
    add(.transaction, fingerprints.transaction, index)
    add(.customer, fingerprints.customer, index)
    if let product = fingerprints.product, products.insert(product).inserted { add(.product, product, index) }
  }

  private mutating func add(
    _ kind: IndexKind, _ fingerprint: UInt64?, _ index: UInt64, check: UInt32 = 0
  ) {
    guard let fingerprint else { return }
    byKind[Int(kind.rawValue)].add(
      IndexRecord(fingerprint: fingerprint, index: index, check: check), of: kind, at: points)
  }

  mutating func add(_ other: IndexHashes) {
    for kind in byKind.indices { byKind[kind].add(other.byKind[kind]) }
  }
}
