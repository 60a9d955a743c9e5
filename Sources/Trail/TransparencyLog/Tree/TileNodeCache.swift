// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Keeps the nodes of tiles that many proofs of a growing tree have in common, so that they are hashed once: those
/// above the lowest level, and those of the right edge. Give the same one to every ``TreeProver`` of a tree.
///
/// What was read of a tile once is not read again: a tile that is altered in its place later goes into no proof. Each
/// tile takes 16 KiB.
public final class TileNodeCache: Sendable {
  private let capacity: Int
  private let state = Mutex(State())

  private struct State {
    /// The nodes, and when they were last of use.
    var tiles: [TileCoordinates: (nodes: TileNodes, use: UInt64)] = [:]
    var uses: UInt64 = 0
  }

  /// Creates an empty one.
  ///
  /// - Parameter capacity: How many tiles are kept: those of last use. 256 suffice for proofs of 16 million entries.
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
    // Full tiles of the lowest level are as many as the entries by 256: few proofs share one.
    guard coordinates.level > 0 || coordinates.width < TileCoordinates.fullWidth else { return }
    let nodes = nodes.complete
    state.withLock { state in
      if state.tiles.count >= capacity, state.tiles[coordinates] == nil {
        // Half at a time, so that making room costs little for each.
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
  /// By height within the tile; where the roots of groups are known, the hashes alone.
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

  /// Those of a full tile, hashed as they are asked for.
  init(_ hashes: [TreeHash], groupRoots: [TreeHash]) {
    rows = [hashes]
    self.groupRoots = groupRoots
  }

  /// The same with all nodes hashed.
  var complete: TileNodes { groupRoots.isEmpty ? self : TileNodes(rows[0]) }

  /// The node of a height within the tile. It is there where it is complete.
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
