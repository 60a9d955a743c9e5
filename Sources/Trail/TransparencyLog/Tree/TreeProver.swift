// SPDX-License-Identifier: Apache-2.0

/// Computes the root and many proofs of one tree, and reads each tile once for all of them. The tiles that were read
/// are kept for the lifetime of the value, at 16 KiB each. For a single proof, use ``MerkleTree``.
package struct TreeProver<Reader: TileReader> {
  package let size: UInt64

  private let reader: Reader
  private let cache: TileNodeCache?
  private var tiles: [TileCoordinates: TileNodes] = [:]

  /// Creates a prover for the tree of the first `size` entries. Provers of this tree at any size can share a cache.
  package init(size: UInt64, reader: Reader, cache: TileNodeCache? = nil) throws(MerkleTreeError) {
    guard size <= MerkleTree.maximumSize else {
      throw MerkleTreeError(.sizeTooLarge, "a tree of \(size) entries is beyond 2^63 - 1")
    }
    self.size = size
    self.reader = reader
    self.cache = cache
  }

  package mutating func root() throws -> TreeHash { try edge(from: 0) }

  /// The proof of ``MerkleTree/inclusionProof(index:size:reader:cache:)``.
  package mutating func inclusionProof(index: UInt64) throws -> [TreeHash] {
    guard index < size else {
      throw MerkleTreeError(.indexOutOfRange, "a tree of \(size) entries has no entry \(index)")
    }
    return try path(ofNode: index, height: 0)
  }

  /// The proof of ``MerkleTree/consistencyProof(from:to:reader:cache:)``.
  package mutating func consistencyProof(from oldSize: UInt64) throws -> [TreeHash] {
    guard oldSize <= size else {
      throw MerkleTreeError(.sizesInWrongOrder, "a tree does not grow from \(oldSize) to \(size) entries")
    }
    guard oldSize > 0, oldSize < size else { return [] }
    // Both trees meet at the last complete subtree of the old tree. If that subtree is the entire old tree, the
    // verifier knows its root already.
    let height = UInt64(oldSize.trailingZeroBitCount)
    let node = oldSize >> height - 1
    let start = node == 0 ? [] : [try hash(ofNode: node, height: height)]
    return start + (try path(ofNode: node, height: height))
  }

  // Node i of height h covers the entries from i * 2^h on: 2^h of them if it is complete.

  /// The siblings on the path from a complete node to the root. A node at the right edge that has no sibling is its own
  /// parent.
  private mutating func path(ofNode node: UInt64, height: UInt64) throws -> [TreeHash] {
    var path: [TreeHash] = []
    var height = height
    var node = node
    while height < 63, 1 << height < size {
      let sibling = node ^ 1
      let complete = size >> height
      if sibling < complete {
        path.append(try hash(ofNode: sibling, height: height))
      } else if sibling == complete, sibling << height < size {
        path.append(try edge(from: sibling << height))
      }
      node >>= 1
      height += 1
    }
    return path
  }

  /// MTH(D[start:size]); `start` must be a multiple of a power of two that is at least `size - start`.
  private mutating func edge(from start: UInt64) throws -> TreeHash {
    var edge: TreeHash?
    var rest = size - start
    while rest > 0 {
      let height = UInt64(rest.trailingZeroBitCount)
      let left = try hash(ofNode: (start + rest) >> height - 1, height: height)
      edge = edge.map { TreeHash.node(left, $0) } ?? left
      rest &= rest - 1
    }
    return edge ?? .empty
  }

  private mutating func hash(ofNode node: UInt64, height: UInt64) throws -> TreeHash {
    let inTile = height % 8
    let nodes = try nodes(ofTile: node >> (8 - inTile), level: Int(height / 8))
    return nodes[Int(inTile), Int(node & (0xFF >> inTile))]
  }

  /// The complete nodes of a tile. Callers ask only for complete nodes, so the node exists: `hashes` checks the tile's
  /// width, which follows from the tree's size.
  private mutating func nodes(ofTile number: UInt64, level: Int) throws -> TileNodes {
    guard let coordinates = TileCoordinates(level: level, number: number, inTreeOfSize: size) else {
      throw MerkleTreeError(.indexOutOfRange, "a tree of \(size) entries has no tile \(level)/\(number)")
    }
    if let known = tiles[coordinates] ?? cache?.nodes(of: coordinates) { return known }
    let nodes = try reader.nodes(coordinates)
    tiles[coordinates] = nodes
    cache?.keep(nodes, of: coordinates)
    return nodes
  }
}
