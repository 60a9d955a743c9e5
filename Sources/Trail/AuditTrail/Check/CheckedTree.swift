// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// The tree over the entries that a check has read.
struct CheckedTree: TileReader {
  /// The tree over the roots of the full bundles. Its tiles are those of the trail's tree, one level higher.
  private var upper = TreeFrontier()
  /// The hashes of the entries after the last full bundle.
  var tail: [TreeHash] = []
  private let fullTile: @Sendable (TileCoordinates) throws -> [TreeHash]

  /// Begins with an empty tree, whose full tiles `fullTile` reads.
  init(fullTile: @escaping @Sendable (TileCoordinates) throws -> [TreeHash]) { self.fullTile = fullTile }

  /// Adds the root of a full bundle, and returns the tiles above level 0 that become full.
  mutating func add(_ root: TreeHash) -> [(tile: TileCoordinates, hashes: [TreeHash])] {
    var tiles: [(TileCoordinates, [TreeHash])] = []
    upper.append(root) { tiles.append((TileCoordinates($0.level + 1, $0.number, $0.width), $1.hashes)) }
    return tiles
  }

  func partialTile(level: Int) -> [TreeHash] { level == 0 ? tail : upper.partialTile(level: level - 1) }

  var root: TreeHash {
    guard !tail.isEmpty else { return upper.root }
    var rest = TreeFrontier()
    for hash in tail { rest.append(hash) }
    return upper.root(followedBy: rest.root)
  }

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    coordinates.number < upper.size >> UInt64(8 * coordinates.level)
      ? try fullTile(coordinates) : partialTile(level: coordinates.level)
  }
}

extension [TrailFault] {
  mutating func compare(_ tile: TileCoordinates, _ hashes: [TreeHash], with stored: [UInt8]?) {
    guard stored != TileCoordinates.encode(hashes) else { return }
    add(
      .alteredTile, index: tile.number << UInt64(8 * (tile.level + 1)), at: tile.path,
      stored == nil ? "The tile is missing." : "The tile does not have the hashes of the entries below it.")
  }
}
