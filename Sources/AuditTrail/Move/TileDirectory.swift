// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
public import TransparencyLog

/// A log as static files (C2SP tlog-tiles), as any web server can serve it: `checkpoint`, `tile/<level>/<number>` and
/// `tile/entries/<number>`. Where keys of the trail were replaced, `keys` leads from each to the next (``KeyChain``);
/// `policies` has the texts of the policies that entries name, each followed by an empty line.
///
/// Beside these, and for the operator's own use only, it may have the erasable parts of the entries, in
/// `erasable/<number>`: for each entry of a bundle a length of four bytes, highest first, and the part. That folder
/// must not be served; its files are readable by their owner alone.
///
/// After an export, `tile` and `erasable` hold what this export says and nothing else of earlier ones, but for
/// narrower versions of the tiles that are still partial, which C2SP tlog-tiles has a log serve on. Other files of the
/// folder are left alone.
public struct TileDirectory: Sendable {
  /// The folder.
  public let path: String

  /// Names a folder; it need not exist.
  public init(path: String) { self.path = path }

  static let maximumFileByteCount = 1 << 30

  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    try StorageError.contents(of: "\(path)/\(name)", limit: Self.maximumFileByteCount)
  }

  /// The proofs of the entries by which keys of the trail were replaced, not verified.
  ///
  /// - Throws: `LogFormatError` where the file is damaged, ``StorageError``.
  func successions() throws -> [LogProof] { try KeyChain.proofs(in: read(Self.keysName) ?? []) }

  static let keysName = "keys"
  static let policiesName = "policies"

  /// What a file's name ends with while it is written.
  static let unfinished = ".new"

  /// Writes a file whole: a reader sees all of it or what was there before. It is on disk; its name is once the folder
  /// is synced.
  func write(_ contents: [UInt8], to name: String) throws(StorageError) {
    let target = "\(path)/\(name)"
    guard let slash = target.lastIndex(of: "/") else { return }
    try Self.makeFolder(String(target[..<slash]))
    let permissions: UInt16 = name.hasPrefix("erasable/") ? 0o600 : 0o644
    try StorageError.doing("It cannot be written", at: target + Self.unfinished) { () throws(SystemError) in
      let file = try File(target + Self.unfinished, .replacing, permissions: permissions)
      file.setPermissions(permissions)
      try file.write(contents)
      try file.synchronize()
    }
    try StorageError.doing("It cannot be replaced", at: target) { () throws(SystemError) in
      try FileSystem.rename(target + Self.unfinished, to: target)
    }
  }

  private static func makeFolder(_ path: String) throws(StorageError) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw StorageError(.inputOutput, at: path, "The folder cannot be created: \(error)")
    }
  }

  /// Makes the folder where it is absent, and keeps other exports out of it until the file returned is closed. The lock
  /// ends with the process.
  ///
  /// - Throws: ``StorageError/Code/busy`` where another export is writing into it.
  func lock() throws(StorageError) -> File {
    try Self.makeFolder(path)
    let folder = try StorageError.doing("It cannot be opened", at: path) { () throws(SystemError) in
      try File(path, .directory)
    }
    let isLocked = try StorageError.doing("It cannot be locked", at: path) { () throws(SystemError) in
      try folder.lock()
    }
    guard isLocked else {
      throw StorageError(
        .busy, at: path, "Another export is writing into this folder; try again when it has ended.")
    }
    return folder
  }

  /// Whether the file of a tile is there, as it was finished by an export of so many entries.
  func has(_ tile: TileCoordinates, _ name: String, after size: UInt64) -> Bool {
    tile == TileCoordinates(level: tile.level, number: tile.number, inTreeOfSize: size)
      && FileManager.default.fileExists(atPath: "\(path)/\(name)")
  }

  /// The bundle's erasable parts.
  static func erasableName(_ bundle: TileCoordinates) -> String {
    "erasable/" + bundle.entryBundlePath.dropFirst("tile/entries/".count)
  }

  /// The bundle that a file has the erasable parts of; `nil` for any other name.
  static func erasableBundle(_ name: String) -> TileCoordinates? {
    guard name.hasPrefix("erasable/") else { return nil }
    return TileCoordinates(entryBundlePath: "tile/entries/" + name.dropFirst("erasable/".count))
  }

  static func encode(erasables: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(erasables.reduce(0) { $0 + $1.count + 4 })
    for erasable in erasables {
      bytes.append(bigEndian: UInt32(erasable.count))
      bytes += erasable
    }
    return bytes
  }

  static func decode(erasables bytes: [UInt8], count: Int, at name: String) throws(StorageError) -> [[UInt8]]
  {
    var erasables: [[UInt8]] = []
    var offset = 0
    while offset < bytes.count {
      guard bytes.count - offset >= 4 else { break }
      let length = Int(bytes.bigEndian(at: offset) as UInt32)
      guard length <= bytes.count - offset - 4 else { break }
      erasables.append(Array(bytes[(offset + 4)..<(offset + 4 + length)]))
      offset += 4 + length
    }
    guard offset == bytes.count, erasables.count == count else {
      throw StorageError(.corrupt, at: name, "It does not have the erasable parts of \(count) entries.")
    }
    return erasables
  }
}

extension AuditLog {
  /// Writes the trail, as far as its newest checkpoint covers it, as static files, and removes what earlier exports
  /// have left in the folder and this one does not say: erasable parts above all. Tiles and bundles that an earlier
  /// export of this trail has finished are left alone, so that exporting again costs only what is new. Blocks.
  ///
  /// When it returns, all of it is on disk, removals included. The erasable parts that this export does not write are
  /// removed before anything is written. An entry that is erased during the export may still have its part in it:
  /// export after erasing.
  ///
  /// - Parameters:
  ///   - directory: Where to.
  ///   - includingErasableParts: Whether receipts and tokens are written as well, for ``AuditLog/importTrail(from:into:configuration:signer:checkpoints:progress:)``. Never serve
  ///     that folder.
  ///   - progress: Called now and then with the entries that were written and those there are.
  /// - Returns: The checkpoint that was written.
  /// - Throws: ``AuditError/Code/alreadyExists`` where the folder has another log, or files in `tile` or `erasable` that
  ///   no export writes; ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` where it has a newer or another
  ///   history of this log; ``StorageError/Code/busy`` where another export is writing into it. Nothing is changed then.
  ///   Any other ``AuditError``, ``StorageError``.
  @discardableResult
  public func export(
    to directory: TileDirectory, includingErasableParts: Bool = false,
    progress: (_ written: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> VerifiedCheckpoint {
    guard let checkpoint = try withView({ $0.checkpoint }) else {
      throw AuditError(.noSuchEntry, at: "checkpoint", "No checkpoint was published yet; publish one first.")
    }
    let size = checkpoint.checkpoint.size
    let lock = try directory.lock()
    defer { withExtendedLifetime(lock) {} }
    let earlier = try sizeOfExport(in: directory, before: checkpoint.checkpoint)
    try ExportedFiles(in: directory).removeStale(
      in: "erasable", size: size, includingErasableParts: includingErasableParts)
    var number: UInt64 = 0
    while let bundle = TileCoordinates(level: 0, number: number, inTreeOfSize: size) {
      try export(bundle, to: directory, after: earlier, includingErasableParts: includingErasableParts)
      number += 1
      if number.isMultiple(of: 64) { progress(min(number << 8, size), size) }
    }
    for level in 1..<6 {
      number = 0
      while let tile = TileCoordinates(level: level, number: number, inTreeOfSize: size) {
        try export(tile, to: directory, after: earlier)
        number += 1
      }
    }
    // A reader of the checkpoint must find all that it covers: the names of the new files are on disk before it, and what
    // only an older one needs goes after it.
    for folder in try ExportedFiles(in: directory).folders {
      try StorageError.synchronizeDirectory("\(directory.path)/\(folder)")
    }
    let policies = try storage.read { try StoredPolicies.all(in: $0) }
    if !policies.isEmpty {
      try directory.write(StoredPolicies.file(policies), to: TileDirectory.policiesName)
    }
    if !keys.successions.isEmpty {
      let proofs = try storage.read { try TrailKeys.storedProofs($0) }
      try directory.write(proofs.flatMap(\.encoded), to: TileDirectory.keysName)
    }
    try directory.write(checkpoint.signed.encoded, to: "checkpoint")
    try StorageError.synchronizeDirectory(directory.path)
    try ExportedFiles(in: directory).removeStale(
      in: "tile", size: size, includingErasableParts: includingErasableParts)
    progress(size, size)
    return checkpoint
  }

  /// How many entries an earlier export of this trail in the folder has, 0 if there is none.
  private func sizeOfExport(in directory: TileDirectory, before new: Checkpoint) throws -> UInt64 {
    guard let bytes = try directory.read("checkpoint") else { return 0 }
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
    guard try withView({ try MerkleTree.root(size: old.size, reader: $0.tiles) }) == old.root else {
      throw AuditError(
        .forked, at: place,
        "The folder has an export of another history of this log; export to another folder.")
    }
    return old.size
  }

  private func export(_ tile: TileCoordinates, to directory: TileDirectory, after earlier: UInt64) throws {
    guard !directory.has(tile, tile.path, after: earlier) else { return }
    let hashes = try withView { try $0.tiles.tile(tile) }
    try directory.write(TileCoordinates.encode(hashes.prefix(tile.width)), to: tile.path)
  }

  private func export(
    _ bundle: TileCoordinates, to directory: TileDirectory, after earlier: UInt64,
    includingErasableParts: Bool
  ) throws {
    try export(bundle, to: directory, after: earlier)
    let hasEntries = directory.has(bundle, bundle.entryBundlePath, after: earlier)
    guard includingErasableParts || !hasEntries else { return }
    var entries: [[UInt8]] = []
    var erasables: [[UInt8]] = []
    try withView { view in
      let first = bundle.number << 8
      var parts = ErasableParts(view.reader)
      try view.entries.forEach(in: first..<first + UInt64(bundle.width)) { index, stored in
        entries.append(stored.entry)
        guard includingErasableParts else { return }
        // An erased part is empty: an erasure among the entries says so.
        let commitment = try TrailState.keys(of: stored.entry, at: index).commitment
        erasables.append(
          try commitment.flatMap { try view.erasableBytes(at: index, stored, commitment: $0, &parts) } ?? [])
      }
    }
    if !hasEntries { try directory.write(EntryBundle(entries).encoded, to: bundle.entryBundlePath) }
    // Erasable parts are written again: some may have been erased since.
    if includingErasableParts {
      try directory.write(
        TileDirectory.encode(erasables: erasables), to: TileDirectory.erasableName(bundle))
    }
  }
}
