// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
internal import TransparencyLog

/// What exports have left in `tile` and `erasable`, with the files that a cut-off export did not finish. Anything
/// beside these two folders belongs to others, and is neither listed nor touched.
struct ExportedFiles {
  private(set) var files: [String] = []
  private(set) var folders: [String] = []
  private let path: String

  /// Lists them, by their names below the folder.
  ///
  /// - Throws: ``AuditError/Code/alreadyExists`` where `tile` or `erasable` has something that no export writes:
  ///   nothing is exported on top of it, and it is not removed. ``StorageError``.
  init(in directory: TileDirectory) throws {
    path = directory.path
    for name in ["tile", "erasable"] { try add(name) }
  }

  private mutating func add(_ name: String) throws {
    let place = "\(path)/\(name)"
    do {
      switch try FileManager.default.attributesOfItem(atPath: place)[.type] as? FileAttributeType {
      case .typeDirectory?:
        folders.append(name)
        for child in try FileManager.default.contentsOfDirectory(atPath: place) {
          try add("\(name)/\(child)")
        }
      case .typeRegular? where Self.isExported(name): files.append(name)
      default:
        throw AuditError(
          .alreadyExists, at: place, "No export has written this; move it away, or export to another folder.")
      }
    } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
      return
    } catch let error as CocoaError {
      throw StorageError(.inputOutput, at: place, "It cannot be read: \(error)")
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

  /// Removes the files that are not of the tree of `size` entries, and the folders that this leaves empty. When it
  /// returns, they are gone from the disk.
  ///
  /// Narrower partial tiles and bundles of a tile that is still partial stay: clients with an older checkpoint may
  /// request them (C2SP tlog-tiles, "Partial Tiles"). Of erasable parts nothing older stays.
  ///
  /// - Parameters:
  ///   - part: The folder to clean: `tile` or `erasable`.
  ///   - size: The number of entries of the export.
  ///   - includingErasableParts: Whether the export has erasable parts.
  /// - Throws: ``StorageError`` where a file cannot be removed or the removal cannot be synced.
  func removeStale(in part: String, size: UInt64, includingErasableParts: Bool) throws(StorageError) {
    for name in files where name.hasPrefix(part) && !isCurrent(name, size, includingErasableParts) {
      try StorageError.doing("It cannot be removed", at: "\(path)/\(name)") { () throws(SystemError) in
        try FileSystem.remove("\(path)/\(name)")
      }
    }
    // The deepest first; what a folder loses is on disk once it is synced.
    for name in folders.reversed() where name.hasPrefix(part) {
      let folder = "\(path)/\(name)"
      try StorageError.synchronizeDirectory(folder)
      let isRemoved = try StorageError.doing("It cannot be removed", at: folder) { () throws(SystemError) in
        try FileSystem.removeDirectory(folder)
      }
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
