// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// The tiles of a tree, as its growth reported them.
final class MemoryTiles: TileReader {
  struct Missing: Error, Equatable { let coordinates: TileCoordinates }

  var full: [String: [TreeHash]] = [:]
  /// Of each full tile the roots of its groups; given to who asks for them, where `givesGroups` is set.
  var groupRoots: [String: [TreeHash]] = [:]
  var givesGroups = false
  var frontier = TreeFrontier()
  /// The tiles that were read, in order.
  var reads: [TileCoordinates] = []

  init(_ leafHashes: some Sequence<TreeHash> = []) {
    for hash in leafHashes { append(hash) }
  }

  func append(_ leafHash: TreeHash) {
    frontier.append(leafHash) { coordinates, tile in
      full[coordinates.path] = tile.hashes
      groupRoots[coordinates.path] = tile.groupRoots
    }
  }

  func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile {
    let roots = givesGroups && coordinates.width == 256 ? groupRoots[coordinates.path] : nil
    return GroupedTile(hashes: try tile(coordinates), groupRoots: roots ?? [])
  }

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    reads.append(coordinates)
    if let hashes = full[coordinates.full.path] { return hashes }
    let partial = frontier.partialTile(level: coordinates.level)
    guard coordinates.number == frontier.size >> (8 * UInt64(coordinates.level) + 8), !partial.isEmpty else {
      throw Missing(coordinates: coordinates)
    }
    return partial
  }
}
