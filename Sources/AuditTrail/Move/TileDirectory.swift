// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import TransparencyLog

/// A log as static files (C2SP tlog-tiles), as any web server can serve it: `checkpoint`, `tile/<level>/<number>` and
/// `tile/entries/<number>`.
///
/// Beside these, and for the operator's own use only, it may have the erasable parts of the entries, in
/// `erasable/<number>`: for each entry of a bundle a length of four bytes, highest first, and the part. That folder
/// must not be served.
public struct TileDirectory: Sendable {
  /// The folder.
  public let path: String

  /// Names a folder; it need not exist.
  public init(path: String) { self.path = path }

  static let maximumFileByteCount = 1 << 30

  func read(_ name: String) throws(StorageError) -> [UInt8]? {
    try DurableFile.read("\(path)/\(name)", limit: Self.maximumFileByteCount)
  }

  /// Writes a file whole: a reader sees all of it or what was there before.
  func write(_ contents: [UInt8], to name: String) throws(StorageError) {
    let target = "\(path)/\(name)"
    guard let slash = target.lastIndex(of: "/") else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: String(target[..<slash]), withIntermediateDirectories: true)
    } catch {
      throw StorageError(.inputOutput, at: String(target[..<slash]), "The folder cannot be created: \(error)")
    }
    let file = try DurableFile.open("\(target).new", .truncate)
    defer { file.close() }
    try file.write(contents)
    try file.rename(to: target)
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }

  /// The bundle's erasable parts.
  static func erasableName(_ bundle: TileCoordinates) -> String {
    "erasable/" + bundle.entryBundlePath.dropFirst("tile/entries/".count)
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
  /// Writes the trail, as far as its newest checkpoint covers it, as static files. Files that are there already and
  /// never change are left alone, so that writing again costs only what is new. Blocks.
  ///
  /// - Parameters:
  ///   - directory: Where to.
  ///   - includingErasableParts: Whether receipts and tokens are written as well, for ``AuditLog/importTrail(from:into:configuration:signer:checkpoints:progress:)``. Never serve
  ///     that folder.
  ///   - progress: Called now and then with the entries that were written and those there are.
  /// - Returns: The checkpoint that was written.
  /// - Throws: ``AuditError``, ``StorageError``.
  @discardableResult
  public func export(
    to directory: TileDirectory, includingErasableParts: Bool = false,
    progress: (_ written: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> VerifiedCheckpoint {
    guard let checkpoint = try withView({ $0.checkpoint }) else {
      throw AuditError(.noSuchEntry, at: "checkpoint", "No checkpoint was published yet; publish one first.")
    }
    let size = checkpoint.checkpoint.size
    var number: UInt64 = 0
    while let bundle = TileCoordinates(level: 0, number: number, inTreeOfSize: size) {
      try export(bundle, to: directory, includingErasableParts: includingErasableParts)
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
    // Last: whoever reads a checkpoint finds all that it covers.
    try directory.write(checkpoint.signed.encoded, to: "checkpoint")
    progress(size, size)
    return checkpoint
  }

  private func export(_ tile: TileCoordinates, to directory: TileDirectory) throws {
    guard !directory.exists(tile.path) else { return }
    let hashes = try withView { try $0.tiles.tile(tile) }
    try directory.write(TileCoordinates.encode(hashes.prefix(tile.width)), to: tile.path)
  }

  private func export(
    _ bundle: TileCoordinates, to directory: TileDirectory, includingErasableParts: Bool
  ) throws {
    try export(bundle, to: directory)
    let erasable = TileDirectory.erasableName(bundle)
    // Erasable parts are written again: some may have been erased since.
    guard includingErasableParts || !directory.exists(bundle.entryBundlePath) else { return }
    var entries: [[UInt8]] = []
    var erasables: [[UInt8]] = []
    try withView { view in
      let first = bundle.number << 8
      try view.entries.forEach(in: first..<first + UInt64(bundle.width)) { index, stored in
        entries.append(stored.entry)
        guard includingErasableParts else { return }
        erasables.append(stored.hasOwnRow ? try view.entries.erasable(at: index) : stored.erasable)
      }
    }
    try directory.write(EntryBundle(entries).encoded, to: bundle.entryBundlePath)
    if includingErasableParts {
      try directory.write(TileDirectory.encode(erasables: erasables), to: erasable)
    }
  }
}
