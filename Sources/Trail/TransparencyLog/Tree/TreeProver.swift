// SPDX-License-Identifier: Apache-2.0

/// Makes the root and many proofs of one tree, and reads each tile once for all of them.
///
/// What was read is kept for as long as the value lives: 16 KiB a tile. For one proof, ``MerkleTree`` does.
public struct TreeProver<Reader: TileReader> {
  /// The number of entries of the tree.
  public let size: UInt64

  private let reader: Reader
  private let cache: TileNodeCache?
  private var tiles: [TileCoordinates: TileNodes] = [:]

  /// Proves for the tree of the first `size` entries.
  ///
  /// - Parameters:
  ///   - size: The number of entries.
  ///   - reader: Reads the tree's tiles.
  ///   - cache: What provers of this tree, at whatever size, have in common.
  /// - Throws: ``MerkleTreeError/Code/sizeTooLarge`` from 2^63 entries.
  public init(size: UInt64, reader: Reader, cache: TileNodeCache? = nil) throws(MerkleTreeError) {
    guard size <= MerkleTree.maximumSize else {
      throw MerkleTreeError(.sizeTooLarge, "a tree of \(size) entries is beyond 2^63 - 1")
    }
    self.size = size
    self.reader = reader
    self.cache = cache
  }

  /// The root of the tree.
  ///
  /// - Throws: ``TileError``, and whatever the reader throws.
  public mutating func root() throws -> TreeHash { try edge(from: 0) }

  /// The proof that entry `index` is in the tree: PATH(m, D[n]) of RFC 6962 section 2.1.1, from the leaf's
  /// sibling up.
  ///
  /// - Throws: ``MerkleTreeError/Code/indexOutOfRange``, ``TileError``, and whatever the reader throws.
  public mutating func inclusionProof(index: UInt64) throws -> [TreeHash] {
    guard index < size else {
      throw MerkleTreeError(.indexOutOfRange, "a tree of \(size) entries has no entry \(index)")
    }
    return try path(ofNode: index, height: 0)
  }

  /// The proof that the tree begins with the tree of its first `oldSize` entries: PROOF(m, D[n]) of RFC 6962
  /// section 2.1.2. Empty from size 0, and to the same size.
  ///
  /// - Throws: ``MerkleTreeError/Code/sizesInWrongOrder``, ``TileError``, and whatever the reader throws.
  public mutating func consistencyProof(from oldSize: UInt64) throws -> [TreeHash] {
    guard oldSize <= size else {
      throw MerkleTreeError(.sizesInWrongOrder, "a tree does not grow from \(oldSize) to \(size) entries")
    }
    guard oldSize > 0, oldSize < size else { return [] }
    // The last complete subtree of the old tree is where both trees meet. Where it is all of the old tree, its
    // root is known to the verifier.
    let height = UInt64(oldSize.trailingZeroBitCount)
    let node = oldSize >> height - 1
    let start = node == 0 ? [] : [try hash(ofNode: node, height: height)]
    return start + (try path(ofNode: node, height: height))
  }

  // Node i of height h covers the entries from i * 2^h, 2^h of them where it is complete.

  /// The siblings on the way from a complete node to the root. A node at the right edge that has no sibling is
  /// its own parent.
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

  /// MTH(D[start:size]), where `start` is a multiple of a power of two that is not below `size - start`.
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

  /// The complete nodes of a tile. What a caller asks for is always complete, so it is there: `hashes` checks the
  /// width, and the width follows from the size.
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
