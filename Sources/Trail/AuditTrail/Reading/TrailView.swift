// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto
public import TransparencyLog

/// A snapshot of a trail, for lookups.
///
/// It blocks while it reads, and is valid only inside the call that passes it.
public struct TrailView {
  let reader: any StorageReader
  let state: PublishedTrail
  let context: TrailContext

  /// The number of entries.
  public var size: UInt64 { state.head.size }
  /// The root of the tree of all entries.
  public var root: TreeHash { state.head.root }
  /// The newest published checkpoint.
  public var checkpoint: VerifiedCheckpoint? { state.checkpoint }

  var tiles: StoredTiles { StoredTiles(reader: reader, edge: state.frontier, cache: context.nodes) }
  var entries: StoredEntries { StoredEntries(tiles) }
  private var key: IndexKey { context.keys.fingerprints }
  var lookup: EntryLookup { EntryLookup(index: state.index, key: key, entries: entries) }

  // MARK: - Entries

  /// Returns the entry at `index`.
  ///
  /// - Throws: ``AuditError/Code/noSuchEntry``; ``AuditError/Code/tampered`` if it is not what was recorded.
  public func entry(at index: UInt64) throws -> RecordedEntry {
    try RecordedEntry(index: index, bytes: entries.entry(at: index))
  }

  /// Returns the erasable part of the entry at `index`; `nil` if it never had one, or it was erased.
  ///
  /// - Throws: ``AuditError/Code/tampered`` if it is not the part that the entry commits to, or if the recorded
  ///   erasures and the stored keys contradict each other; ``AuditError/Code/keysMissing`` if the trail holds no keys,
  ///   and the part was not erased before.
  public func erasablePart(at index: UInt64) throws -> ErasablePart? {
    guard let commitment = try entry(at: index).entry.commitment else { return nil }
    guard try ErasureKeys.arePresent(in: reader) || lookup.erasure(of: index) == nil else { return nil }
    var parts = ErasableParts(reader)
    guard let bytes = try erasableBytes(at: index, commitment: commitment, &parts) else { return nil }
    do { return try ErasablePart.parse(bytes) } catch {
      throw AuditError(.tampered, at: "entry \(index)", "\(error)")
    }
  }

  /// Returns the bytes of an erasable part, after comparing its key with the recorded erasures; `nil` if it was erased.
  func erasableBytes(
    at index: UInt64, _ stored: StoredEntry? = nil, commitment: SHA256Digest, _ parts: inout ErasableParts
  ) throws -> [UInt8]? {
    guard let bytes = try parts.bytes(at: index, stored, commitment: commitment) else {
      try lookup.requireErasure(of: index)
      return nil
    }
    if let erasure = try lookup.erasure(of: index) {
      throw EntryLookup.keyIsBack(of: index, erasure: erasure)
    }
    return bytes
  }

  /// Returns a file of the log as C2SP tlog-tiles defines it, as far as the newest checkpoint covers it: `checkpoint`,
  /// `tile/…` or `tile/entries/…`.
  ///
  /// This includes partial tiles that have become wider since. Returns `nil` for any other path.
  package func file(at path: String) throws -> [UInt8]? {
    guard let checkpoint else { return nil }
    if path == "checkpoint" { return checkpoint.signed.encoded }
    let size = checkpoint.checkpoint.size
    if let bundle = TileCoordinates(entryBundlePath: path) {
      guard isCovered(bundle, size) else { return nil }
      var contents: [[UInt8]] = []
      let first = bundle.number << 8
      try entries.forEach(in: first..<first + UInt64(bundle.width)) { _, stored in
        contents.append(stored.entry)
      }
      return try EntryBundle(contents).encoded
    }
    guard let tile = TileCoordinates(path: path), isCovered(tile, size),
      let stored = TileCoordinates(level: tile.level, number: tile.number, inTreeOfSize: size)
    else { return nil }
    return TileCoordinates.encode(try tiles.tile(stored).prefix(tile.width))
  }

  private func isCovered(_ tile: TileCoordinates, _ size: UInt64) -> Bool {
    TileCoordinates(level: tile.level, number: tile.number, inTreeOfSize: size).map { tile.width <= $0.width }
      ?? false
  }

  /// Announces the entries that are read next, at most some hundreds, so that a remote storage fetches each bundle as a
  /// whole that contains many of them; bundles that an earlier call fetched are dropped.
  package func prefetch(_ indexes: some Sequence<UInt64>) throws {
    try reader.prefetch(.bundles) {
      Dictionary(grouping: indexes) { StoredRows.place(of: $0).bundle }
        .filter { $0.value.count >= Self.prefetchedCount }.map(\.key)
    }
  }

  /// The minimum number of wanted entries in a bundle for fetching it as a whole, and not only these.
  private static let prefetchedCount = 8

  // MARK: - Lookups, newest first

  /// Returns the entries of an original transaction, newest first; each leads to the one before it.
  ///
  /// - Parameters:
  ///   - original: The original transaction's identifier.
  ///   - scope: Only entries that this scope may contain. Other apps, environments and stores may have the same
  ///     identifier.
  ///   - before: Only entries with a smaller index, for the next page.
  ///   - limit: The maximum number of results.
  /// - Returns: The entries.
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  public func history(
    original: String, in scope: PurchaseScope? = nil, before: UInt64 = .max, limit: Int = .max
  ) throws -> [RecordedEntry] {
    var found: [RecordedEntry] = []
    guard limit > 0 else { return found }
    try lookup.forEach(of: original, before: before) { recorded in
      if scope?.mayContain(recorded.entry) != false { found.append(recorded) }
      return found.count < limit
    }
    return found
  }

  /// Returns the entries of a transaction, newest first.
  ///
  /// - Parameters:
  ///   - transaction: The transaction's identifier.
  ///   - scope: Only entries that this scope may contain. Other apps, environments and stores may have the same
  ///     identifier.
  ///   - before: Only entries with a smaller index, for the next page.
  ///   - limit: The maximum number of results.
  /// - Returns: The entries.
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  public func entries(
    transaction: String, in scope: PurchaseScope? = nil, before: UInt64 = .max, limit: Int = .max
  ) throws -> [RecordedEntry] {
    try entries(.transaction, EntryText.encoded(transaction), before: before, limit: limit) { recorded in
      recorded.entry.transaction.isIdentical(to: transaction)
        && scope?.mayContain(recorded.entry) != false
    }
  }

  /// Returns the entries of a receipt that are wanted, newest first: verdicts on it, without the purchases inside it.
  package func entries(
    receipt digest: SHA256Digest, before: UInt64 = .max, limit: Int = .max,
    where isWanted: (EntryFacts) -> Bool = { _ in true }
  ) throws -> [RecordedEntry] {
    try entries(.receipt, digest.bytes, before: before, limit: limit) { recorded in
      recorded.entry.receipt == digest && isWanted(recorded.entry.facts)
    }
  }

  /// Returns the entries with an identifier, of any kind, newest first.
  public func entries(id: String, before: UInt64 = .max, limit: Int = .max) throws -> [RecordedEntry] {
    let name = EntryFingerprints.name(id: EntryText.encoded(id))
    return try entries(.receipt, name, before: before, limit: limit) { $0.entry.id.isIdentical(to: id) }
  }

  /// Returns the entries of a product, newest first.
  public func entries(product: String, before: UInt64 = .max, limit: Int = .max) throws -> [RecordedEntry] {
    var found: [RecordedEntry] = []
    // The index of products contains only bundles; each bundle is searched from its end.
    var candidates = candidates(.product, EntryText.encoded(product), before: .max)
    while found.count < limit, let candidate = try candidates.next() {
      var index = min(before, size, (candidate | 255) + 1)
      while index > candidate, found.count < limit {
        index -= 1
        let recorded = try entry(at: index)
        if recorded.entry.product.isIdentical(to: product) { found.append(recorded) }
      }
    }
    return found
  }

  /// Returns the entries of a customer whose parts were not erased, newest first.
  ///
  /// - Parameters:
  ///   - token: The token that was recorded as the customer.
  ///   - before: Only entries with a smaller index, for the next page.
  ///   - limit: The maximum number of results.
  /// - Returns: The entries.
  /// - Throws: ``AuditError/Code/tampered``; ``AuditError/Code/keysMissing`` if the trail holds no keys;
  ///   ``StorageError``.
  public func entries(customer token: String, before: UInt64 = .max, limit: Int = .max) throws
    -> [RecordedEntry]
  {
    try entries(customer: token, before: before, limit: limit, part: erasablePart)
  }

  private func entries(
    customer token: String, before: UInt64 = .max, limit: Int = .max, part: (UInt64) throws -> ErasablePart?
  ) throws -> [RecordedEntry] {
    guard try state.hasCustomers && ErasureKeys.arePresent(in: reader) else { throw ErasureKeys.missing }
    return try entries(.customer, Array(token.utf8), before: before, limit: limit) { recorded in
      try part(recorded.index)?.customerToken.isIdentical(to: token) == true
    }
  }

  /// Returns the other entries, ascending, that hold the receipt or name the customer of some, including those that were
  /// erased before and whose keys came back.
  package func entriesToErase(sharingPartsWith indexes: [UInt64]) throws -> [UInt64] {
    var found: Set<UInt64> = []
    var receipts: Set<SHA256Digest> = []
    var customers: Set<[UInt8]> = []
    for index in indexes {
      let entry = try entry(at: index).entry
      guard let erasable = try partToErase(at: index) else { continue }
      if erasable.receipt != nil, let receipt = entry.receipt, receipts.insert(receipt).inserted {
        for other in try entries(receipt: receipt) where try partToErase(at: other.index)?.receipt != nil {
          found.insert(other.index)
        }
      }
      if let token = erasable.customerToken, customers.insert(Array(token.utf8)).inserted {
        found.formUnion(try entries(customer: token, part: partToErase).map(\.index))
      }
    }
    return found.subtracting(indexes).sorted()
  }

  /// Returns the entries of a customer that can be erased, ascending, including erased ones whose keys came back.
  package func entriesToErase(customer token: String) throws -> [UInt64] {
    try entries(customer: token, part: partToErase).map(\.index).reversed()
  }

  /// Returns the erasable part of an entry if there is a key for it, regardless of lookup.
  package func partToErase(at index: UInt64) throws -> ErasablePart? {
    guard let commitment = try entry(at: index).entry.commitment else { return nil }
    var parts = ErasableParts(reader)
    do {
      return try parts.bytes(at: index, commitment: commitment).map { try ErasablePart.parse($0) }
    } catch {
      // A part that was erased and came back altered cannot be read; it is erased nevertheless.
      guard error is AuditError, try lookup.erasure(of: index) != nil else { throw error }
      return nil
    }
  }

  /// Returns the entries of a range of time, oldest first.
  ///
  /// - Parameters:
  ///   - time: The range, in milliseconds since 1970.
  ///   - from: Only entries with at least this index, for the next page.
  ///   - limit: The maximum number of results.
  /// - Returns: The entries.
  /// - Throws: ``AuditError/Code/tampered``, ``StorageError``.
  public func entries(
    time: ClosedRange<Int64>, from: UInt64 = 0, limit: Int = .max
  ) throws -> [RecordedEntry] {
    // Time never runs backwards along a trail.
    var low: UInt64 = 0
    var high = size
    while low < high {
      let middle = low + (high - low) / 2
      if try entry(at: middle).entry.time < time.lowerBound { low = middle + 1 } else { high = middle }
    }
    var found: [RecordedEntry] = []
    var index = max(low, from)
    while index < size, found.count < limit {
      if index == max(low, from) || index.isMultiple(of: UInt64(BundleRow.entryCount)) {
        // At most a bundle at a time: the limit may be far beyond the end of the range.
        try prefetch(
          index...min(
            index | UInt64(BundleRow.entryCount - 1), index + UInt64(limit - found.count - 1), size - 1))
      }
      let recorded = try entry(at: index)
      guard recorded.entry.time <= time.upperBound else { break }
      found.append(recorded)
      index += 1
    }
    return found
  }

  private func candidates(_ kind: IndexKind, _ value: [UInt8], before: UInt64) -> IndexCandidates {
    state.index.candidates(
      kind, key.fingerprint(kind, value), before: min(before, size), in: IndexRows(base: reader))
  }

  /// Returns the entries that the index has for a value, newest first, except those whose fingerprints only collide.
  private func entries(
    _ kind: IndexKind, _ value: [UInt8], before: UInt64, limit: Int,
    where isWanted: (RecordedEntry) throws -> Bool
  ) throws -> [RecordedEntry] {
    var found: [RecordedEntry] = []
    var candidates = candidates(kind, value, before: before)
    while found.count < limit, let index = try candidates.next() {
      let recorded = try entry(at: index)
      if try isWanted(recorded) { found.append(recorded) }
    }
    return found
  }

  // MARK: - Proofs

  /// Returns a proof that the entry at `index` is in the tree of the newest checkpoint, together with that checkpoint.
  ///
  /// It can be verified offline with only the trail's public key.
  ///
  /// - Throws: ``AuditError/Code/noSuchEntry`` if the entry is newer than the checkpoint; publish another one.
  public func proof(of index: UInt64) throws -> LogProof {
    guard let checkpoint, index < checkpoint.checkpoint.size else {
      throw AuditError(
        .noSuchEntry, at: "entry \(index)",
        "No published checkpoint includes the entry yet; publish one first.")
    }
    return try verifiedProof(of: index, in: checkpoint)
  }

  /// Returns a proof that the entry at `index` is in the tree of a checkpoint of this trail, together with that
  /// checkpoint and its cosignatures.
  ///
  /// - Throws: ``AuditError/Code/noSuchEntry`` if the entry is newer than the checkpoint, ``AuditError/Code/forked`` if
  ///   the trail contradicts it.
  public func proof(of index: UInt64, in checkpoint: VerifiedCheckpoint) throws -> LogProof {
    let size = checkpoint.checkpoint.size
    guard index < size else {
      throw AuditError(
        .noSuchEntry, at: "entry \(index)", "The checkpoint has \(size) entries; the first is entry 0.")
    }
    guard size <= self.size, try root(size: size) == checkpoint.checkpoint.root else {
      throw AuditError(.forked, at: "entries below \(size)", "The checkpoint is not of this trail.")
    }
    return try verifiedProof(of: index, in: checkpoint)
  }

  private func verifiedProof(of index: UInt64, in checkpoint: VerifiedCheckpoint) throws -> LogProof {
    let entry = try entries.entry(at: index)
    let (size, root) = (checkpoint.checkpoint.size, checkpoint.checkpoint.root)
    var tiles = tiles
    tiles.checksGroupsOnly = true
    let hashes = try MerkleTree.inclusionProof(index: index, size: size, reader: tiles, cache: context.nodes)
    do {
      try MerkleTree.verifyInclusion(
        leafHash: .leaf(entry), index: index, size: size, root: root, proof: hashes)
    } catch {
      throw AuditError(
        .tampered, at: "entry \(index)", "The hashes on its way to the root were altered: \(error)")
    }
    return try LogProof(extra: entry, index: index, inclusionProof: hashes, checkpoint: checkpoint.signed)
  }

  /// Returns a proof that the tree of `size` entries continues the tree of the first `oldSize` entries.
  package func consistencyProof(from oldSize: UInt64, to size: UInt64) throws -> [TreeHash] {
    try MerkleTree.consistencyProof(from: oldSize, to: size, reader: tiles, cache: context.nodes)
  }

  package func root(size: UInt64) throws -> TreeHash {
    try MerkleTree.root(size: size, reader: tiles, cache: context.nodes)
  }
}

extension String? {
  /// Returns `true` if it is not `nil` and has the same bytes; `==` would also be true for canonically equivalent
  /// texts.
  fileprivate func isIdentical(to other: String) -> Bool {
    map { UTF8Text.isIdentical($0, other) } ?? false
  }
}

/// An entry with its index.
public struct RecordedEntry: Sendable, Hashable {
  /// The index of the entry in the trail.
  public let index: UInt64
  /// The entry.
  public let entry: AuditEntry
  /// The stored bytes of the entry, which are the leaf of the tree.
  public let bytes: [UInt8]

  package init(index: UInt64, bytes: [UInt8]) throws(AuditError) {
    self.index = index
    self.bytes = bytes
    do { entry = try AuditEntry(parsing: bytes) } catch {
      throw AuditError(.tampered, at: "entry \(index)", "The entry cannot be read: \(error)")
    }
  }
}
