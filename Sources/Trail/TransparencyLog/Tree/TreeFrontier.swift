// SPDX-License-Identifier: Apache-2.0

/// The right edge of a growing tree: the minimal state for appending entries and computing the root.
///
/// It holds the partial tile of each level and the roots of the complete subtrees that make up the tree. It takes a
/// few kilobytes at any size. A copy is cheap and can be kept to undo appends.
public struct TreeFrontier: Sendable, Hashable {
  /// The number of entries.
  public private(set) var size: UInt64 = 0

  /// The roots of the complete subtrees, one for each bit that is set in `size`, largest first.
  private var peaks: [TreeHash] = []
  private var partialTiles: [[TreeHash]] = []
  /// The roots of the full groups of each partial tile.
  private var groupRoots: [[TreeHash]] = []

  /// Creates the edge of the empty tree.
  public init() {}

  /// Rebuilds the edge of a tree of `size` entries from its partial tiles.
  ///
  /// The tiles are not verified: compare ``root`` with a known root.
  ///
  /// - Throws: An error if `size` is 2^63 or more, ``TileError/Code/tooShort``, and any
  ///   error from the reader.
  public init(size: UInt64, reader: some TileReader) throws {
    guard size <= MerkleTree.maximumSize else {
      throw MerkleTreeError(.sizeTooLarge, "a tree of \(size) entries is beyond 2^63 - 1")
    }
    for coordinates in TileCoordinates.partialTiles(ofTreeOfSize: size) {
      while partialTiles.count < coordinates.level { partialTiles.append([]) }
      partialTiles.append(Array(try coordinates.hashes(of: reader.tile(coordinates))))
    }
    for hashes in partialTiles.reversed() {
      var rest = hashes[...]
      while !rest.isEmpty {
        let count = 1 << (rest.count.bitWidth - 1 - rest.count.leadingZeroBitCount)
        peaks.append(TreeHash.root(ofComplete: rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
    }
    groupRoots = partialTiles.map(GroupedTile.groupRoots)
    self.size = size
  }

  /// Appends an entry by its leaf hash.
  public mutating func append(_ leafHash: TreeHash) { append(leafHash) { _, _ in } }

  /// Appends an entry by its leaf hash, and reports each tile that becomes full, from level 0 up.
  ///
  /// - Throws: Rethrows the error from `completed`. The entry is appended even then: keep a copy to undo it.
  public mutating func append(
    _ leafHash: TreeHash, completed: (TileCoordinates, GroupedTile) throws -> Void
  ) rethrows {
    var full: [(TileCoordinates, [TreeHash])] = []
    var hash = leafHash
    var height: UInt64 = 0
    while true {
      let level = Int(height / 8)
      if height % 8 == 0, let tile = add(hash, atLevel: level) { full.append(tile) }
      if 1 << (height % 8) == GroupedTile.groupWidth { groupRoots[level].append(hash) }
      guard size >> height & 1 == 1, let left = peaks.popLast() else { break }
      hash = TreeHash.node(left, hash)
      height += 1
    }
    peaks.append(hash)
    size += 1
    // The last group of a tile becomes full after the tile does, so the tiles are assembled here.
    let tiles = full.map { coordinates, hashes in
      let tile = GroupedTile(hashes: hashes, groupRoots: groupRoots[coordinates.level])
      groupRoots[coordinates.level] = []
      return (coordinates, tile)
    }
    for (coordinates, tile) in tiles { try completed(coordinates, tile) }
  }

  /// Adds a hash to the partial tile of a level, and removes and returns the tile if it is now full.
  private mutating func add(_ hash: TreeHash, atLevel level: Int) -> (TileCoordinates, [TreeHash])? {
    if level == partialTiles.count {
      partialTiles.append([])
      groupRoots.append([])
    }
    partialTiles[level].append(hash)
    guard partialTiles[level].count == TileCoordinates.fullWidth else { return nil }
    let hashes = partialTiles[level]
    partialTiles[level] = []
    return (TileCoordinates(level, size >> (8 * UInt64(level) + 8), TileCoordinates.fullWidth), hashes)
  }

  /// The root of the tree.
  public var root: TreeHash {
    guard var root = peaks.last else { return .empty }
    for peak in peaks.dropLast().reversed() { root = TreeHash.node(peak, root) }
    return root
  }

  /// The root of this tree after appending more entries, whose own root is `rest`. There must be fewer of those entries
  /// than the smallest complete subtree of this tree has.
  package func root(followedBy rest: TreeHash) -> TreeHash {
    peaks.reversed().reduce(rest) { TreeHash.node($1, $0) }
  }

  /// The hashes of the partial tile of a level, at most 255; empty if the level has no partial tile.
  public func partialTile(level: Int) -> [TreeHash] {
    partialTiles.indices.contains(level) ? partialTiles[level] : []
  }
}
