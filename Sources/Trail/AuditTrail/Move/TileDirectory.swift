// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
internal import ReceiptCrypto
package import TransparencyLog

/// A log as static files (C2SP tlog-tiles), which any web server can serve: `checkpoint`, `tile/<level>/<number>` and
/// `tile/entries/<number>`.
///
/// If keys of the trail were replaced, `keys` leads from each key to the next (``KeyChain``). The file `policies` has
/// the texts of the policies that entries name, each followed by an empty line.
///
/// The folder may also contain the erasable parts of the entries, for the operator's own use only, in
/// `erasable/<number>`: for each entry of a bundle, a length of four bytes, big endian, and the part. The folder
/// `erasable` must not be served; its files are readable only by their owner.
///
/// After an export, all its files have the contents of this export, whatever they had before. The folders `tile` and
/// `erasable` contain nothing else, except narrower versions of tiles that are still partial, which a log must continue
/// to serve according to C2SP tlog-tiles. Other files in the folder are left alone.
package struct TileDirectory: Sendable {
  /// The path of the folder.
  package let path: String

  /// Creates a value for a folder, which need not exist.
  package init(path: String) { self.path = path }

  static let maximumFileByteCount = 1 << 30

  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    try StorageError.contents(of: "\(path)/\(name)", limit: Self.maximumFileByteCount)
  }

  /// Returns the proofs of the entries that replaced keys of the trail, unverified.
  ///
  /// - Throws: `LogFormatError` if the file is damaged, ``StorageError``.
  func successions() throws -> [LogProof] { try KeyChain.proofs(in: read(Self.keysName) ?? []) }

  static let keysName = "keys"
  static let policiesName = "policies"

  /// The suffix of a file's name while the file is written.
  static let unfinished = ".new"

  /// Writes a file as a whole: a reader sees either all of it or the previous contents.
  ///
  /// The contents are on disk on return, and the name is once the folder is synced.
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

  /// Removes a file if it exists.
  func remove(_ name: String) throws(StorageError) {
    try StorageError.doing("It cannot be removed", at: "\(path)/\(name)") { () throws(SystemError) in
      try FileSystem.remove("\(path)/\(name)")
    }
  }

  private static func makeFolder(_ path: String) throws(StorageError) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw StorageError(.inputOutput, at: path, "The folder cannot be created: \(error)")
    }
  }

  /// Creates the folder if it does not exist, and keeps other exports out of it until the returned file is closed.
  ///
  /// The lock ends with the process.
  ///
  /// - Throws: ``StorageError/Code/busy`` if another export is writing into it.
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

  /// Writes a file, unless it has these contents already.
  func update(_ name: String, with contents: [UInt8]) throws(StorageError) {
    guard try readIfRegular(name) != contents else { return }
    try write(contents, to: name)
  }

  /// Returns the contents of a file; `nil` if it does not exist, or is longer than any file of an export.
  private func readIfRegular(_ name: String) throws(StorageError) -> [UInt8]? {
    do throws(StorageError) { return try read(name) } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Returns the entries of a bundle if its file has them exactly as the tree does.
  ///
  /// - Parameters:
  ///   - bundle: The bundle.
  ///   - hashes: The leaf hashes of the entries.
  /// - Returns: The entries; `nil` if the file does not have them.
  /// - Throws: ``StorageError``.
  func entries(of bundle: TileCoordinates, _ hashes: some Collection<TreeHash>) throws(StorageError)
    -> [[UInt8]]?
  {
    guard let bytes = try readIfRegular(bundle.entryBundlePath),
      let entries = try? EntryBundle(parsing: bytes).entries,
      entries.count == hashes.count, zip(entries, hashes).allSatisfy({ TreeHash.leaf($0) == $1 })
    else { return nil }
    return entries
  }

  /// Checks that the files beside `tile` that an export would replace, if they exist, were written by exports.
  ///
  /// - Throws: ``AuditError/Code/alreadyExists``.
  func requireOwnFiles() throws {
    for (name, beginning) in [
      (Self.keysName, KeyChain.fileBeginning), (Self.policiesName, PolicyDescription.beginning),
    ] {
      guard let bytes = try read(name), !bytes.starts(with: beginning) else { continue }
      throw AuditError(
        .alreadyExists, at: "\(path)/\(name)",
        "No export has written this file; move it away, or export to another folder.")
    }
  }

  /// Returns the names of all files in `erasable`; `nil` if there are no such files.
  func erasableFiles() throws(StorageError) -> Set<String>? {
    let folder = "\(path)/erasable"
    var files: Set<String> = []
    do {
      for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        let type = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.type]
        if type as? FileAttributeType != .typeDirectory { files.insert("erasable/\(name)") }
      }
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
      return nil
    } catch {
      throw StorageError(.inputOutput, at: folder, "It cannot be read: \(error)")
    }
    return files.isEmpty ? nil : files
  }

  /// Returns the name of the file of a bundle's erasable parts.
  static func erasableName(_ bundle: TileCoordinates) -> String {
    "erasable/" + bundle.entryBundlePath.dropFirst("tile/entries/".count)
  }

  /// Returns the bundle whose erasable parts are in a file; `nil` for any other name.
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
  /// Exports the trail as static files, as far as its newest checkpoint covers it.
  ///
  /// It removes everything that earlier exports left in the folder and that does not belong to this one, above all
  /// erasable parts. Files of an earlier export are compared with the trail, and written again only if they differ. It
  /// blocks.
  ///
  /// On return, everything is on disk, including removals. The erasable parts that this export does not write are
  /// removed before anything is written. An entry that is erased during the export may still have its part in it, so
  /// export after erasing.
  ///
  /// - Parameters:
  ///   - directory: The folder to export to.
  ///   - includingErasableParts: `true` if receipts and tokens are written as well, for
  ///     ``AuditLog/importTrail(from:into:configuration:signer:checkpoints:progress:)``. Never serve that folder.
  ///   - progress: Called periodically with the number of written entries and the number of all entries.
  /// - Returns: The checkpoint that was written.
  /// - Throws: ``AuditError/Code/alreadyExists`` if the folder has another log, files in `tile` or `erasable` that no
  ///   export writes, or other files named `keys` or `policies`; ``AuditError/Code/rolledBack`` or
  ///   ``AuditError/Code/forked`` if it has a newer or a different history of this log; ``StorageError/Code/busy`` if
  ///   another export is writing into it. Nothing is changed then. ``AuditError/Code/storageUnavailable`` if a part was
  ///   erased after the newest checkpoint, so that the export could not record the erasure. Any other ``AuditError``,
  ///   ``StorageError``.
  @discardableResult
  package func export(
    to directory: TileDirectory, includingErasableParts: Bool = false,
    progress: (_ written: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> VerifiedCheckpoint {
    guard let checkpoint = try withView({ $0.checkpoint }) else {
      throw AuditError(.noSuchEntry, at: "checkpoint", "No checkpoint was published yet; publish one first.")
    }
    let size = checkpoint.checkpoint.size
    let lock = try directory.lock()
    defer { withExtendedLifetime(lock) {} }
    try requireEarlierExport(in: directory, before: checkpoint.checkpoint)
    try directory.requireOwnFiles()
    try ExportedFiles(in: directory).removeStale(
      in: "erasable", size: size, includingErasableParts: includingErasableParts)
    var statements = EntryStatements()
    var number: UInt64 = 0
    while let bundle = TileCoordinates(level: 0, number: number, inTreeOfSize: size) {
      let entries = try export(
        bundle, to: directory, size: size, includingErasableParts: includingErasableParts)
      try statements.add(entries, from: number << 8)
      number += 1
      if number.isMultiple(of: 64) { progress(min(number << 8, size), size) }
    }
    for level in 1..<6 {
      number = 0
      while let tile = TileCoordinates(level: level, number: number, inTreeOfSize: size) {
        try export(tile, to: directory)
        number += 1
      }
    }
    let (policies, keys) = (
      try policyFile(naming: statements.policies), try keyFile(of: statements.successions, size)
    )
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

  /// Checks that an earlier export in the folder, if there is one, is of this trail and not newer.
  ///
  /// Nothing else in it is trusted: anyone who can write to the folder can write any checkpoint.
  private func requireEarlierExport(in directory: TileDirectory, before new: Checkpoint) throws {
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
    guard try withView({ try MerkleTree.root(size: old.size, reader: $0.tiles) }) == old.root else {
      throw AuditError(
        .forked, at: place,
        "The folder has an export of another history of this log; export to another folder.")
    }
  }

  /// - Returns: The hashes of the tile.
  @discardableResult
  private func export(_ tile: TileCoordinates, to directory: TileDirectory) throws -> ArraySlice<TreeHash> {
    let hashes = try withView { try $0.tiles.tile(tile) }.prefix(tile.width)
    try directory.update(tile.path, with: TileCoordinates.encode(hashes))
    return hashes
  }

  /// - Returns: The entries of the bundle.
  private func export(
    _ bundle: TileCoordinates, to directory: TileDirectory, size: UInt64, includingErasableParts: Bool
  ) throws -> [[UInt8]] {
    let hashes = try export(bundle, to: directory)
    let exported = try directory.entries(of: bundle, hashes)
    if let exported, !includingErasableParts { return exported }
    var entries: [[UInt8]] = []
    var erasables: [[UInt8]] = []
    try withView { view in
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
        guard commitment != nil, part == nil, try view.erasures.erasure(of: index).map({ $0 >= size }) ?? true
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
    let texts = try withView { view in
      try StoredPolicies.verified(in: view.reader, view.context.keys.head(in: view.reader))
    }
    return StoredPolicies.file(texts.filter { named.contains(SHA256Digest(of: Array($0.utf8))) })
  }

  /// Returns the file of the proofs of the entries that replaced the trail's key.
  private func keyFile(of successions: [UInt64], _ size: UInt64) throws -> [UInt8] {
    let proofs = try storage.read { try TrailKeys.storedProofs($0) }.filter { $0.index < size }
    let fault = try SuccessionProofs(proofs: proofs).fault(entries: successions, trusting: keys.first) {
      size in
      try withView { size <= $0.size ? try $0.root(size: size) : .empty }
    }
    if let fault { throw AuditError(.tampered, at: "notes", fault) }
    return proofs.flatMap(\.encoded)
  }
}

/// The statements of an export's entries that its other files depend on.
private struct EntryStatements {
  private(set) var policies: Set<SHA256Digest> = []
  private(set) var successions: [UInt64] = []

  mutating func add(_ entries: [[UInt8]], from first: UInt64) throws {
    for (offset, entry) in entries.enumerated() {
      let index = first + UInt64(offset)
      let keys = try TrailState.keys(of: entry, at: index)
      if let policy = keys.policy { policies.insert(policy) }
      if keys.isOf(.key, in: entry.span) { successions.append(index) }
    }
  }
}
