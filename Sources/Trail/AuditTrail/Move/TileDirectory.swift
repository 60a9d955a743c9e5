// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

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
  package let path: String

  /// Creates a value for a folder, which need not exist.
  package init(path: String) { self.path = path }

  static let maximumFileByteCount = 1 << 30

  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    try StorageError.contents(of: "\(path)/\(name)", limit: Self.maximumFileByteCount)
  }

  /// Returns the proofs of the entries that replaced keys of the trail, unverified.
  func successions() throws -> [LogProof] { try KeyChain.proofs(in: read(Self.keysName) ?? []) }

  static let keysName = "keys"
  static let policiesName = "policies"

  /// The suffix of a file's name while the file is written.
  static let unfinished = ".new"

  /// Writes a file as a whole: a reader sees either all of it or the previous contents. The contents are on disk on
  /// return, and the name is once the folder is synced.
  func write(_ contents: [UInt8], to name: String) throws(StorageError) {
    let target = "\(path)/\(name)"
    guard let slash = target.lastIndex(of: "/") else { return }
    try Self.makeFolder(String(target[..<slash]))
    let permissions: UInt16 = name.hasPrefix("erasable/") ? 0o600 : 0o644
    func writeFile() throws(SystemError) {
      let file = try File(target + Self.unfinished, .replacing, permissions: permissions)
      file.setPermissions(permissions)
      try file.write(contents)
      try file.synchronize()
    }
    try StorageError.doing("It cannot be written", at: target + Self.unfinished, try writeFile())
    try StorageError.doing(
      "It cannot be replaced", at: target, try FileSystem.rename(target + Self.unfinished, to: target))
  }

  func remove(_ name: String) throws(StorageError) {
    try StorageError.doing(
      "It cannot be removed", at: "\(path)/\(name)", try FileSystem.remove("\(path)/\(name)"))
  }

  private static func makeFolder(_ path: String) throws(StorageError) {
    try StorageError.doing("The folder cannot be created", at: path, try FileSystem.makeDirectories(path))
  }

  /// Creates the folder if it does not exist, and keeps other exports out of it until the returned file is closed. The
  /// lock ends with the process. Throws ``StorageError/Code/busy`` if another export is writing into it.
  func lock() throws(StorageError) -> File {
    try Self.makeFolder(path)
    let folder = try StorageError.doing("It cannot be opened", at: path, try File(path, .directory))
    let isLocked = try StorageError.doing("It cannot be locked", at: path, try folder.lock())
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
  /// - Returns: The entries; `nil` if the file does not have them.
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
    func add(_ name: String) throws(SystemError) {
      guard let status = try FileSystem.linkStatus("\(path)/\(name)") else { return }
      guard status.isDirectory else {
        files.insert(name)
        return
      }
      for child in try FileSystem.names(in: "\(path)/\(name)") { try add("\(name)/\(child)") }
    }
    try StorageError.doing("It cannot be read", at: folder, try add("erasable"))
    return files.isEmpty ? nil : files
  }

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
