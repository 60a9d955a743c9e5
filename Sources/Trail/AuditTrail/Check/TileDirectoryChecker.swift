// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
package import TransparencyLog

extension TileDirectoryChecker {
  /// Verifies a checkpoint of the trail that was seen before. It may be signed by the trusted key, by a key before it,
  /// or by a key after it. The files of a trail do not contain its first key. A checkpoint that only the first key
  /// signed is verified only if that key is the trusted one. Throws `NoteError` if no key of the trail has signed it,
  /// or the signature could not be checked; `LogFormatError` if the file of keys is damaged; ``StorageError``.
  package func verify(_ checkpoint: SignedCheckpoint) throws -> VerifiedCheckpoint {
    let proofs = try directory.successions()
    let chain = try KeyChain(verifier, proofs)
    if let verified = try verified(checkpoint, by: chain) { return verified }
    for proof in proofs {
      guard let key = KeySuccession.key(in: proof) else { continue }
      let earlier = try KeyChain(key, proofs)
      guard earlier.keys.contains(verifier) else { continue }
      if let verified = try verified(checkpoint, by: earlier) { return verified }
    }
    return try chain.verify(checkpoint)
  }

  private func verified(
    _ checkpoint: SignedCheckpoint, by chain: KeyChain
  ) throws(NoteError) -> VerifiedCheckpoint? {
    do throws(NoteError) { return try chain.verify(checkpoint) } catch {
      guard error.code != .internalFailure else { throw error }
      return nil
    }
  }

  /// Checks every entry, every tile, the checkpoint, the keys that took over, and the texts of policies. If the export
  /// has erasable parts, they are checked too: there must be exactly those without an entry that records their erasure.
  /// The trail must continue the older checkpoint, which was seen before. The number of checked entries and that of all
  /// entries are reported periodically. It throws ``StorageError`` if a file cannot be read for a reason that indicates
  /// no fault of the trail.
  package func check(
    continuing older: VerifiedCheckpoint? = nil,
    progress: (_ checked: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> TrailCheckReport {
    var report = TrailCheckReport()
    let verified = try report.faults.verified(
      directory.read("checkpoint"), by: KeyChain(verifier, directory.successions()),
      named: "The checkpoint", orMissing: "There is no checkpoint.")
    guard let checkpoint = verified else { return report }
    let size = checkpoint.checkpoint.size
    report.checkpointSize = size
    var erasables = hasTrailEntries ? try directory.erasableFiles() : nil
    var lines = EntryLineChecker()
    var tree = CheckedTree { [directory] tile in
      guard let bytes = try directory.read(tile.full.path) else {
        throw StorageError(.corrupt, at: tile.full.path, "The tile is missing.")
      }
      return try tile.full.decode(bytes)
    }
    for bundle in TileCoordinates.all(level: 0, inTreeOfSize: size) {
      guard var checked = try self.checked(bundle, &report.faults) else { return report }
      try checkErasables(of: bundle, &checked, &erasables)
      if hasTrailEntries {
        report.faults += checked.faults
        report.faults += lines.add(checked)
      }
      report.entryCount += UInt64(checked.hashes.count)
      if bundle.isFull {
        for (tile, hashes) in tree.add(TreeHash.root(ofComplete: checked.hashes[...])) {
          report.faults.compare(tile, hashes, with: try directory.read(tile.path))
        }
      } else {
        tree.tail = checked.hashes
      }
      if bundle.number % 64 == 63 { progress(min((bundle.number + 1) << 8, size), size) }
      guard report.faults.count < TrailCheckReport.maximumFaults else { return report }
    }
    for tile in TileCoordinates.partialTiles(ofTreeOfSize: size) where tile.level > 0 {
      report.faults.compare(tile, tree.partialTile(level: tile.level), with: try directory.read(tile.path))
    }
    if hasTrailEntries { report.faults += lines.finish(sawErasableParts: erasables != nil) }
    for file in (erasables ?? []).sorted() {
      report.faults.add(
        .strayRow, at: file, "It has erasable parts of no bundle of this export; export again.")
    }
    report.rootHash = tree.root.base64
    if tree.root != checkpoint.checkpoint.root {
      report.faults.add(
        .checkpoint, index: 0, at: "entries below \(size)",
        "The entries do not have the root of the checkpoint.")
    }
    if report.isClean, hasTrailEntries {
      let fault = try KeyChain.fault(
        in: directory.successions(), of: lines.successions, trusting: verifier
      ) { size in
        size <= report.entryCount ? try MerkleTree.root(size: size, reader: tree) : .empty
      }
      if let fault { report.faults.add(.keySuccession, at: TileDirectory.keysName, fault) }
    }
    if let file = try directory.read(TileDirectory.policiesName),
      let fault = StoredPolicies.fault(in: file, named: lines.policies)
    {
      report.faults.add(.policyText, at: TileDirectory.policiesName, fault)
    }
    if report.isClean, let older { try compare(older.checkpoint, size: size, tree, &report.faults) }
    progress(size, size)
    return report
  }

  /// Checks the erasable parts of a bundle, and removes their file from `files`.
  private func checkErasables(
    of bundle: TileCoordinates, _ checked: inout CheckedEntries, _ files: inout Set<String>?
  ) throws {
    guard files != nil else { return }
    let name = TileDirectory.erasableName(bundle)
    guard files?.remove(name) != nil, let bytes = try directory.read(name),
      let parts = try? TileDirectory.decode(erasables: bytes, count: checked.hashes.count, at: name)
    else {
      return checked.faults.add(
        .alteredErasablePart, index: checked.first, at: name,
        "It is missing, or does not have the erasable parts of \(checked.hashes.count) entries.")
    }
    checked.addErasableParts(parts)
  }

  private func checked(_ bundle: TileCoordinates, _ faults: inout [TrailFault]) throws -> CheckedEntries? {
    let (first, place) = (bundle.number << 8, bundle.entryBundlePath)
    guard let bytes = try directory.read(place) else {
      let last = first + UInt64(bundle.width) - 1
      faults.add(.missingEntry, index: first, at: place, "The entries \(first) to \(last) are missing.")
      return nil
    }
    guard let entries = try? EntryBundle(parsing: bytes).entries, entries.count == bundle.width else {
      faults.add(.missingEntry, index: first, at: place, "It does not have \(bundle.width) entries.")
      return nil
    }
    var checked = CheckedEntries(first: first)
    for entry in entries { checked.add(entry.span) }
    guard let tile = try directory.read(bundle.path) else {
      faults.add(.alteredTile, index: first, at: bundle.path, "The tile is missing.")
      return checked
    }
    if tile != TileCoordinates.encode(checked.hashes) {
      let hashes = (try? bundle.decode(tile)) ?? []
      let altered = checked.hashes.indices.first {
        !hashes.indices.contains($0) || hashes[$0] != checked.hashes[$0]
      }
      faults.add(
        .alteredEntry, entry: first + UInt64(altered ?? 0),
        "The entry does not have the hash that \(bundle.path) has at its place.")
    }
    return checked
  }

  private func compare(
    _ older: Checkpoint, size: UInt64, _ tree: CheckedTree, _ faults: inout [TrailFault]
  ) throws {
    if older.size > size {
      faults.add(
        .rolledBack, index: size, at: "entry \(size)",
        "The checkpoint that was seen before covers \(older.size) entries; this one covers \(size).")
    } else if older.size > 0, try MerkleTree.root(size: older.size, reader: tree) != older.root {
      faults.add(
        .checkpoint, index: 0, at: "entries below \(older.size)",
        "The first \(older.size) entries are not those of the checkpoint that was seen before: there are two histories."
      )
    }
  }
}
