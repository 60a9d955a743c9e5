// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
package import TransparencyLog

/// Checks a trail that was exported as static files, as an outsider would: with only the files, the public key and, if
/// the outsider has one, an older checkpoint.
package struct TileDirectoryChecker: Sendable {
  private let directory: TileDirectory
  private let verifier: NoteVerifierKey

  /// Creates a checker.
  package init(directory: TileDirectory, verifier: NoteVerifierKey) {
    self.directory = directory
    self.verifier = verifier
  }

  /// Verifies a checkpoint of the trail that was seen before.
  ///
  /// It may be signed by the trusted key, by a key before it, or by a key after it.
  ///
  /// The files of a trail do not contain its first key. A checkpoint that only the first key signed is verified only if
  /// that key is the trusted one.
  ///
  /// - Throws: `NoteError` if no key of the trail has signed it, or the signature could not be checked;
  ///   `LogFormatError` if the file of keys is damaged; ``StorageError``.
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

  /// Checks every entry, every tile, the checkpoint, the keys that took over, and the texts of policies.
  ///
  /// If the export has erasable parts, they are checked too: there must be exactly those without an entry that records
  /// their erasure.
  ///
  /// - Parameters:
  ///   - older: A checkpoint that was seen before, which the trail must continue.
  ///   - progress: Called periodically with the number of checked entries and the number of all entries.
  /// - Returns: The report.
  /// - Throws: ``StorageError`` if a file cannot be read for a reason that indicates no fault of the trail.
  package func check(
    continuing older: VerifiedCheckpoint? = nil,
    progress: (_ checked: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> TrailCheckReport {
    var report = TrailCheckReport()
    guard let checkpoint = try checkpoint(&report) else { return report }
    let size = checkpoint.checkpoint.size
    report.checkpointSize = size
    var erasables = try directory.erasableFiles()
    var lines = EntryLineChecker()
    var upper = TreeFrontier()
    var tail: [TreeHash] = []
    var number: UInt64 = 0
    while let bundle = TileCoordinates(level: 0, number: number, inTreeOfSize: size) {
      guard var checked = try self.checked(bundle, &report) else { return report }
      try checkErasables(of: bundle, &checked, &erasables)
      report.add(checked.faults)
      report.add(lines.add(checked))
      report.entryCount += UInt64(checked.hashes.count)
      number += 1
      if bundle.isFull {
        var tiles: [(TileCoordinates, [TreeHash])] = []
        upper.append(TreeHash.root(ofComplete: checked.hashes[...])) { tiles.append(($0, $1.hashes)) }
        for (above, hashes) in tiles {
          try compare(TileCoordinates(above.level + 1, above.number, above.width), hashes, &report)
        }
      } else {
        tail = checked.hashes
      }
      if number.isMultiple(of: 64) { progress(min(number << 8, size), size) }
      guard report.faults.count < TrailCheckReport.maximumFaults else { return report }
    }
    for tile in TileCoordinates.partialTiles(ofTreeOfSize: size) where tile.level > 0 {
      try compare(tile, upper.partialTile(level: tile.level - 1), &report)
    }
    report.add(lines.finish(sawErasableParts: erasables != nil))
    report.add(
      (erasables ?? []).sorted().map {
        TrailFault(.strayRow, at: $0, "It has erasable parts of no bundle of this export; export again.")
      })
    let reader = ExportedTiles(directory: directory, upper: upper, tail: tail)
    let root = size == 0 ? TreeHash.empty : try MerkleTree.root(size: size, reader: reader)
    report.rootHash = root.base64
    if root != checkpoint.checkpoint.root {
      report.add([
        TrailFault(
          .checkpoint, index: 0, at: "entries below \(size)",
          "The entries do not have the root of the checkpoint.")
      ])
    }
    if report.isClean { try checkSuccessions(lines.successions, reader, &report) }
    if let file = try directory.read(TileDirectory.policiesName),
      let fault = StoredPolicies.fault(in: file, named: lines.policies)
    {
      report.add([TrailFault(.policyText, at: TileDirectory.policiesName, fault)])
    }
    if report.isClean, let older { try compare(older, size: size, reader, &report) }
    progress(size, size)
    return report
  }

  private func checkpoint(_ report: inout TrailCheckReport) throws -> VerifiedCheckpoint? {
    do {
      guard let bytes = try directory.read("checkpoint") else {
        report.add([TrailFault(.checkpoint, at: "checkpoint", "There is no checkpoint.")])
        return nil
      }
      return try KeyChain(verifier, directory.successions()).verify(SignedCheckpoint(parsing: bytes))
    } catch  where !error.isFailureToCheckNote {
      report.add([TrailFault(.checkpoint, at: "checkpoint", "The checkpoint cannot be trusted: \(error)")])
      return nil
    }
  }

  private func checkSuccessions(
    _ entries: [UInt64], _ reader: ExportedTiles, _ report: inout TrailCheckReport
  ) throws {
    let proofs = SuccessionProofs(proofs: try directory.successions())
    let fault = try proofs.fault(entries: entries, trusting: verifier) { size in
      size <= report.entryCount ? try MerkleTree.root(size: size, reader: reader) : .empty
    }
    if let fault { report.add([TrailFault(.keySuccession, at: TileDirectory.keysName, fault)]) }
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
      return checked.faults.append(
        TrailFault(
          .alteredErasablePart, index: checked.first, at: name,
          "It is missing, or does not have the erasable parts of \(checked.hashes.count) entries."))
    }
    checked.addErasableParts(parts)
  }

  private func checked(_ bundle: TileCoordinates, _ report: inout TrailCheckReport) throws -> CheckedEntries?
  {
    let first = bundle.number << 8
    guard let bytes = try directory.read(bundle.entryBundlePath) else {
      report.add([
        TrailFault(
          .missingEntry, index: first, at: bundle.entryBundlePath,
          "The entries \(first) to \(first + UInt64(bundle.width) - 1) are missing.")
      ])
      return nil
    }
    guard let entries = try? EntryBundle(parsing: bytes).entries, entries.count == bundle.width else {
      report.add([
        TrailFault(
          .missingEntry, index: first, at: bundle.entryBundlePath, "It does not have \(bundle.width) entries."
        )
      ])
      return nil
    }
    var checked = CheckedEntries(first: first)
    for entry in entries { checked.add(entry.span) }
    guard let tile = try directory.read(bundle.path) else {
      report.add([TrailFault(.alteredTile, index: first, at: bundle.path, "The tile is missing.")])
      return checked
    }
    if tile != TileCoordinates.encode(checked.hashes) {
      let hashes = (try? bundle.decode(tile)) ?? []
      let altered = checked.hashes.indices.first {
        !hashes.indices.contains($0) || hashes[$0] != checked.hashes[$0]
      }
      report.add([
        TrailFault(
          .alteredEntry, entry: first + UInt64(altered ?? 0),
          "The entry does not have the hash that \(bundle.path) has at its place.")
      ])
    }
    return checked
  }

  private func compare(_ tile: TileCoordinates, _ hashes: [TreeHash], _ report: inout TrailCheckReport) throws
  {
    let bytes = try directory.read(tile.path)
    guard bytes != TileCoordinates.encode(hashes) else { return }
    report.add([
      TrailFault(
        .alteredTile, index: tile.number << UInt64(8 * (tile.level + 1)), at: tile.path,
        bytes == nil ? "The tile is missing." : "The tile does not have the hashes of the entries below it.")
    ])
  }

  private func compare(
    _ older: VerifiedCheckpoint, size: UInt64, _ reader: ExportedTiles, _ report: inout TrailCheckReport
  ) throws {
    let (oldSize, oldRoot) = (older.checkpoint.size, older.checkpoint.root)
    if oldSize > size {
      report.add([
        TrailFault(
          .rolledBack, index: size, at: "entry \(size)",
          "The checkpoint that was seen before covers \(oldSize) entries; this one covers \(size).")
      ])
    } else if oldSize > 0, try MerkleTree.root(size: oldSize, reader: reader) != oldRoot {
      report.add([
        TrailFault(
          .checkpoint, index: 0, at: "entries below \(oldSize)",
          "The first \(oldSize) entries are not those of the checkpoint that was seen before: there are two histories."
        )
      ])
    }
  }
}

/// The tiles of an export whose entries were checked.
private struct ExportedTiles: TileReader {
  let directory: TileDirectory
  let upper: TreeFrontier
  let tail: [TreeHash]

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    let full = coordinates.level == 0 ? upper.size : upper.size >> UInt64(8 * coordinates.level)
    guard coordinates.number < full else {
      return coordinates.level == 0 ? tail : upper.partialTile(level: coordinates.level - 1)
    }
    guard let bytes = try directory.read(coordinates.full.path) else {
      throw StorageError(.corrupt, at: coordinates.full.path, "The tile is missing.")
    }
    return try coordinates.full.decode(bytes)
  }
}
