// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A cache of the tile nodes that many proofs of a growing tree share.
///
/// It holds the tiles above the lowest level and the tiles of the right edge, so that their nodes are hashed only
/// once. Share one cache among all proofs of a tree.
///
/// A cached tile is not read again, so a stored tile that is altered later has no effect on proofs while it is
/// cached. Each tile takes 16 KiB.
public final class TileNodeCache: Sendable {
  private let capacity: Int
  private let state = Mutex(State())

  private struct State {
    /// The nodes, and the value of `uses` at their last use.
    var tiles: [TileCoordinates: (nodes: TileNodes, use: UInt64)] = [:]
    var uses: UInt64 = 0
  }

  /// Creates an empty cache.
  ///
  /// - Parameter capacity: The number of tiles to keep. The least recently used are evicted first. 256 suffice for
  ///   proofs of 16 million entries.
  public init(capacity: Int = 256) { self.capacity = max(1, capacity) }

  package func nodes(of coordinates: TileCoordinates) -> TileNodes? {
    state.withLock { state in
      guard let nodes = state.tiles[coordinates]?.nodes else { return nil }
      state.uses += 1
      state.tiles[coordinates]?.use = state.uses
      return nodes
    }
  }

  package func keep(_ nodes: TileNodes, of coordinates: TileCoordinates) {
    // The lowest level has one full tile for every 256 entries, and few proofs share one.
    guard coordinates.level > 0 || coordinates.width < TileCoordinates.fullWidth else { return }
    let nodes = nodes.complete
    state.withLock { state in
      if state.tiles.count >= capacity, state.tiles[coordinates] == nil {
        // Evicts half of the tiles at a time, so that the cost per insertion stays low.
        let uses = state.tiles.values.map(\.use).sorted()
        let oldest = uses[uses.count / 2]
        state.tiles = state.tiles.filter { $0.value.use > oldest }
      }
      state.uses += 1
      state.tiles[coordinates] = (nodes, state.uses)
    }
  }
}

/// The hashes of a tile, and those of the complete nodes between it and the next level.
package struct TileNodes: Sendable {
  /// The rows of nodes by height within the tile. If the group roots are known, only row 0, the tile's hashes, is
  /// present.
  private let rows: [[TreeHash]]
  private let groupRoots: [TreeHash]

  package init(_ hashes: [TreeHash]) {
    var rows = [hashes]
    while let row = rows.last, row.count > 1 {
      rows.append((0..<(row.count / 2)).map { TreeHash.node(row[2 * $0], row[2 * $0 + 1]) })
    }
    self.rows = rows
    groupRoots = []
  }

  /// Creates the nodes of a full tile, which are hashed on demand.
  init(_ hashes: [TreeHash], groupRoots: [TreeHash]) {
    rows = [hashes]
    self.groupRoots = groupRoots
  }

  /// The same tile with all nodes hashed.
  var complete: TileNodes { groupRoots.isEmpty ? self : TileNodes(rows[0]) }

  /// The node at a height within the tile. The node must be complete.
  package subscript(height: Int, number: Int) -> TreeHash {
    if groupRoots.isEmpty { return rows[height][number] }
    let heightOfGroups = GroupedTile.groupWidth.trailingZeroBitCount
    return height < heightOfGroups
      ? Self.node(over: rows[0], height, number)
      : Self.node(over: groupRoots, height - heightOfGroups, number)
  }

  private static func node(over hashes: [TreeHash], _ height: Int, _ number: Int) -> TreeHash {
    TreeHash.root(ofComplete: hashes[number << height..<(number + 1) << height])
  }
}
