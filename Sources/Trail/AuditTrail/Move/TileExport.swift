// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// Exports a trail as static files into a folder.
struct TileExport {
  let reader: Reader
  let storage: any TrailStorage
  let keys: TrailKeys
  let directory: TileDirectory
  let includingErasableParts: Bool

  /// Exports the trail as far as its newest checkpoint covers it. Returns the checkpoint that was written, and throws
  /// as ``AuditLog/export(to:includingErasableParts:progress:)``.
  func run(progress: (_ written: UInt64, _ of: UInt64) -> Void) throws -> VerifiedCheckpoint {
    guard let checkpoint = try reader.withView({ $0.checkpoint }) else {
      throw AuditError(.noSuchEntry, at: "checkpoint", "No checkpoint was published yet; publish one first.")
    }
    let size = checkpoint.checkpoint.size
    let lock = try directory.lock()
    defer { withExtendedLifetime(lock) {} }
    try requireEarlierExport(before: checkpoint.checkpoint)
    try directory.requireOwnFiles()
    try ExportedFiles(in: directory).removeStale(
      in: "erasable", size: size, includingErasableParts: includingErasableParts)
    var named: Set<SHA256Digest> = []
    var successions: [UInt64] = []
    for bundle in TileCoordinates.all(level: 0, inTreeOfSize: size) {
      for (offset, entry) in try export(bundle, size: size).enumerated() {
        let index = bundle.number << 8 + UInt64(offset)
        let keys = try TrailState.keys(of: entry, at: index)
        if let policy = keys.policy { named.insert(policy) }
        if keys.isOf(.key, in: entry.span) { successions.append(index) }
      }
      if bundle.number % 64 == 63 { progress(min((bundle.number + 1) << 8, size), size) }
    }
    for level in 1..<6 {
      for tile in TileCoordinates.all(level: level, inTreeOfSize: size) { try export(tile) }
    }
    let policies = try policyFile(naming: named)
    let keys = try keyFile(of: successions, size)
    // A reader of the checkpoint must find everything that it covers. So the names of the new files are on disk before
    // the checkpoint is, and files that only an older checkpoint needs are removed after it.
    for folder in try ExportedFiles(in: directory).folders {
      try StorageError.synchronizeDirectory("\(directory.path)/\(folder)")
    }
    for (name, contents) in [(TileDirectory.policiesName, policies), (TileDirectory.keysName, keys)] {
      try contents.isEmpty ? directory.remove(name) : directory.update(name, with: contents)
    }
    try directory.write(checkpoint.signed.encoded, to: "checkpoint")
    try StorageError.synchronizeDirectory(directory.path)
    try ExportedFiles(in: directory).removeStale(
      in: "tile", size: size, includingErasableParts: includingErasableParts)
    progress(size, size)
    return checkpoint
  }

  /// Checks that an earlier export in the folder, if there is one, is of this trail and not newer. Nothing else in it
  /// is trusted: anyone who can write to the folder can write any checkpoint.
  private func requireEarlierExport(before new: Checkpoint) throws {
    guard let bytes = try directory.read("checkpoint") else { return }
    let place = "\(directory.path)/checkpoint"
    guard let old = try? SignedCheckpoint(parsing: bytes).unverifiedCheckpoint, old.origin == new.origin
    else {
      throw AuditError(.alreadyExists, at: place, "It is not of this log; export to another folder.")
    }
    guard old.size <= new.size else {
      throw AuditError(
        .rolledBack, at: place,
        "The folder has an export of \(old.size) entries, newer than the \(new.size) of this trail's checkpoint."
      )
    }
    guard try reader.withView({ try MerkleTree.root(size: old.size, reader: $0.tiles) }) == old.root else {
      throw AuditError(
        .forked, at: place,
        "The folder has an export of another history of this log; export to another folder.")
    }
  }

  @discardableResult
  private func export(_ tile: TileCoordinates) throws -> ArraySlice<TreeHash> {
    let hashes = try reader.withView { try $0.tiles.tile(tile) }.prefix(tile.width)
    try directory.update(tile.path, with: TileCoordinates.encode(hashes))
    return hashes
  }

  private func export(_ bundle: TileCoordinates, size: UInt64) throws -> [[UInt8]] {
    let hashes = try export(bundle)
    let exported = try directory.entries(of: bundle, hashes)
    if let exported, !includingErasableParts { return exported }
    var entries: [[UInt8]] = []
    var erasables: [[UInt8]] = []
    try reader.withView { view in
      let first = bundle.number << 8
      var parts = ErasableParts(view.reader)
      try view.entries.forEach(in: first..<first + UInt64(bundle.width)) { index, stored in
        entries.append(stored.entry)
        guard includingErasableParts else { return }
        // An erased part is empty, which an erasure among the entries confirms.
        let commitment = try TrailState.keys(of: stored.entry, at: index).commitment
        let part = try commitment.flatMap {
          try view.erasableBytes(at: index, stored, commitment: $0, &parts)
        }
        erasables.append(part ?? [])
        guard commitment != nil, part == nil, try view.lookup.erasure(of: index).map({ $0 >= size }) ?? true
        else { return }
        throw AuditError(
          .storageUnavailable, at: "entry \(index)",
          "Its erasable part was erased after the newest checkpoint; publish a checkpoint, and export again.")
      }
    }
    if exported == nil { try directory.write(EntryBundle(entries).encoded, to: bundle.entryBundlePath) }
    // Erasable parts are always written again, since some may have been erased meanwhile.
    if includingErasableParts {
      try directory.write(
        TileDirectory.encode(erasables: erasables), to: TileDirectory.erasableName(bundle))
    }
    return entries
  }

  /// Returns the file of the policies that entries name, as far as the trail has their texts.
  private func policyFile(naming named: Set<SHA256Digest>) throws -> [UInt8] {
    let texts = try reader.withView { view in
      try StoredPolicies.verified(in: view.reader, view.context.keys.head(in: view.reader))
    }
    return StoredPolicies.file(texts.filter { named.contains(SHA256Digest(of: Array($0.utf8))) })
  }

  private func keyFile(of successions: [UInt64], _ size: UInt64) throws -> [UInt8] {
    let proofs = try storage.read { try TrailKeys.storedProofs($0) }.filter { $0.index < size }
    try keys.require(proofs, of: successions) { size in
      try reader.withView { size <= $0.size ? try $0.root(size: size) : .empty }
    }
    return proofs.flatMap(\.encoded)
  }
}
