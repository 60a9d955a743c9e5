// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// The tiles of a stored tree, each verified against the tile above it.
///
/// The right edge of the tree is in memory, and belongs to a signed root. A read returns the true hashes, or throws.
struct StoredTiles: TileReader {
  let reader: any StorageReader
  let edge: TreeFrontier
  let cache: TileNodeCache
  /// If `true`, only the roots of the groups in a full tile of level 0 are verified; callers check the others.
  var checksGroupsOnly = false

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    // The number of hashes in the whole level; a trail of 2^40 entries has six levels.
    let available = coordinates.level < 8 ? edge.size >> UInt64(8 * coordinates.level) : 0
    guard coordinates.number <= available >> 8,
      available - coordinates.number << 8 >= UInt64(coordinates.width)
    else { throw AuditError(.noSuchEntry, at: coordinates.path, "The tree has no such tile.") }
    if coordinates.number == available >> 8 { return edge.partialTile(level: coordinates.level) }
    let hashes = try Self.fullTile(coordinates, reader)
    guard try TreeHash.root(ofComplete: hashes[...]) == root(ofTile: coordinates.full) else {
      throw Self.altered(coordinates)
    }
    return hashes
  }

  func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile {
    // The cache keeps the hashes of partial tiles and of older trees, so they are verified against the tree.
    guard checksGroupsOnly, coordinates.level == 0, coordinates.width == TileCoordinates.fullWidth,
      coordinates.number < edge.size >> 8
    else {
      return GroupedTile(hashes: try tile(coordinates))
    }
    let row = try reader.value(.bundles, Int64(coordinates.number), bytes: 0..<BundleRow.groupedTileByteCount)
    guard let row, row.count == BundleRow.groupedTileByteCount else { throw Self.missing(coordinates) }
    let hashes = TreeHash.hashes(in: row)
    let groupRoots = Array(hashes.dropFirst(BundleRow.entryCount))
    try check(groupRoots: groupRoots, ofBundle: coordinates.number)
    return GroupedTile(hashes: Array(hashes.prefix(BundleRow.entryCount)), groupRoots: groupRoots)
  }

  func check(groupRoots: [TreeHash], ofBundle number: UInt64) throws {
    let tile = TileCoordinates(0, number, TileCoordinates.fullWidth)
    guard try TreeHash.root(ofComplete: groupRoots[...]) == root(ofTile: tile) else {
      throw Self.altered(tile)
    }
  }

  /// Returns the root of a full tile's hashes, as the tile above has it.
  func root(ofTile tile: TileCoordinates) throws -> TreeHash {
    let above = TileCoordinates(tile.level + 1, tile.number >> 8, TileCoordinates.fullWidth)
    let position = Int(tile.number & 255)
    if above.number == edge.size >> UInt64(8 * (above.level + 1)) {
      let hashes = edge.partialTile(level: above.level)
      guard hashes.indices.contains(position) else { throw Self.missing(tile) }
      return hashes[position]
    }
    if let nodes = cache.nodes(of: above) { return nodes[0, position] }
    let hashes = try self.tile(above)
    cache.keep(TileNodes(hashes), of: above)
    return hashes[position]
  }

  static func fullTile(_ coordinates: TileCoordinates, _ reader: any StorageReader) throws -> [TreeHash] {
    let row =
      if coordinates.level == 0 {
        try reader.value(.bundles, Int64(coordinates.number), bytes: 0..<BundleRow.tileByteCount)
      } else {
        try reader.value(.tiles, Self.key(coordinates))
      }
    guard let row, row.count == BundleRow.tileByteCount else { throw missing(coordinates) }
    return TreeHash.hashes(in: row)
  }

  private static func missing(_ coordinates: TileCoordinates) -> AuditError {
    AuditError(.tampered, at: coordinates.path, "The tile is not there; restore the trail from a backup.")
  }

  private static func altered(_ coordinates: TileCoordinates) -> AuditError {
    AuditError(
      .tampered, at: coordinates.path,
      "The tile is not the one of the tree: it was altered. Check the whole trail, and restore it from a backup."
    )
  }

  static func key(_ coordinates: TileCoordinates) -> Int64 {
    Int64(coordinates.level) << 48 | Int64(coordinates.number)
  }
}

/// The stored full tiles, unverified, for reading the right edge of a tree whose root is then compared.
struct UnverifiedTiles: TileReader {
  let reader: any StorageReader

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    if coordinates.width == TileCoordinates.fullWidth { return try StoredTiles.fullTile(coordinates, reader) }
    // A partial tile is not stored: its hashes are the roots of the full tiles below it.
    return try (0..<UInt64(coordinates.width)).map { number in
      let below = TileCoordinates(
        coordinates.level - 1, coordinates.number << 8 + number, TileCoordinates.fullWidth)
      return TreeHash.root(ofComplete: try tile(below)[...])
    }
  }
}
