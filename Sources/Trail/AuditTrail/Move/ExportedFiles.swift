// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import TransparencyLog

/// The files that exports have left in `tile` and `erasable`, including those that an interrupted export did not
/// finish. Other files and folders belong to others, and are neither listed nor touched.
struct ExportedFiles {
  private(set) var files: [String] = []
  private(set) var folders: [String] = []
  private let directory: TileDirectory

  /// Lists the files by their names below the folder. Throws ``AuditError/Code/alreadyExists`` if `tile` or `erasable`
  /// contains something that no export writes: nothing is exported on top of it, and it is not removed.
  /// ``StorageError``.
  init(in directory: TileDirectory) throws {
    self.directory = directory
    for name in ["tile", "erasable"] { try add(name) }
  }

  private mutating func add(_ name: String) throws {
    let place = "\(directory.path)/\(name)"
    guard
      let status = try StorageError.doing("It cannot be read", at: place, try FileSystem.linkStatus(place))
    else { return }
    if status.isDirectory {
      folders.append(name)
      let children = try StorageError.doing("It cannot be read", at: place, try FileSystem.names(in: place))
      for child in children { try add("\(name)/\(child)") }
    } else if status.isRegularFile, Self.isExported(name) {
      files.append(name)
    } else {
      throw AuditError(
        .alreadyExists, at: place, "No export has written this; move it away, or export to another folder.")
    }
  }

  private static func isExported(_ name: String) -> Bool {
    let isUnfinished = name.hasSuffix(TileDirectory.unfinished)
    return coordinates(of: isUnfinished ? String(name.dropLast(TileDirectory.unfinished.count)) : name) != nil
  }

  private static func coordinates(of name: String) -> TileCoordinates? {
    TileCoordinates(path: name) ?? TileCoordinates(entryBundlePath: name)
      ?? TileDirectory.erasableBundle(name)
  }

  /// Removes the files that do not belong to the tree of `size` entries, and the folders that become empty. On return
  /// the removals are on disk. Narrower versions of partial tiles and bundles stay as long as the tile is partial:
  /// clients with an older checkpoint may request them (C2SP tlog-tiles, "Partial Tiles"). No older files of erasable
  /// parts stay. Throws ``StorageError`` if a file cannot be removed or the removal cannot be synced.
  func removeStale(in part: String, size: UInt64, includingErasableParts: Bool) throws(StorageError) {
    for name in files where name.hasPrefix(part) && !isCurrent(name, size, includingErasableParts) {
      try directory.remove(name)
    }
    // The deepest folders come first. A removal is on disk once its folder is synced.
    for name in folders.reversed() where name.hasPrefix(part) {
      let folder = "\(directory.path)/\(name)"
      try StorageError.synchronizeDirectory(folder)
      let isRemoved = try StorageError.doing(
        "It cannot be removed", at: folder, try FileSystem.removeDirectory(folder))
      if isRemoved { try StorageError.synchronizeDirectory(FileSystem.directory(of: folder)) }
    }
  }

  private func isCurrent(_ name: String, _ size: UInt64, _ includingErasableParts: Bool) -> Bool {
    guard let tile = Self.coordinates(of: name),
      let current = TileCoordinates(level: tile.level, number: tile.number, inTreeOfSize: size)
    else { return false }
    if name.hasPrefix("erasable/") { return includingErasableParts && tile == current }
    return tile == current || !current.isFull && tile.width < current.width
  }
}
