// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct MerkleTreeTests {
  /// Past four full tiles of level 0.
  static let count = 1025

  @Test func `roots are those of the tree by the book, however it is grown`() throws {
    let hashes = leafHashes(Self.count)
    let tiles = MemoryTiles()
    for size in 0...Self.count {
      let expected = NaiveTree(hashes[..<size]).root
      #expect(tiles.frontier.root == expected)
      #expect(tiles.frontier.size == UInt64(size))
      #expect(try MerkleTree.root(size: UInt64(size), reader: tiles) == expected)
      #expect(try TreeFrontier(size: UInt64(size), reader: tiles) == tiles.frontier)
      if size < Self.count { tiles.append(hashes[size]) }
    }
    // Once more from the tiles of the largest tree alone.
    for size in 0...Self.count {
      #expect(try MerkleTree.root(size: UInt64(size), reader: tiles) == NaiveTree(hashes[..<size]).root)
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `every inclusion proof up to 1,025 entries is the one by the book`() throws {
    let hashes = leafHashes(Self.count)
    let tiles = MemoryTiles(hashes)
    for size in 1...Self.count {
      let tree = NaiveTree(hashes[..<size])
      var prover = try TreeProver(size: UInt64(size), reader: tiles)
      for index in 0..<size {
        let proof = try prover.inclusionProof(index: UInt64(index))
        guard proof == tree.inclusionProof(index) else {
          Issue.record("entry \(index) of \(size)")
          return
        }
        try MerkleTree.verifyInclusion(
          leafHash: hashes[index], index: UInt64(index), size: UInt64(size), root: tree.root, proof: proof)
      }
    }
  }

  @Test(.timeLimit(.minutes(1)))
  func `every consistency proof up to 1,025 entries is the one by the book`() throws {
    let hashes = leafHashes(Self.count)
    let tiles = MemoryTiles(hashes)
    var roots = [TreeHash.empty]
    for size in 1...Self.count {
      let tree = NaiveTree(hashes[..<size])
      roots.append(tree.root)
      var prover = try TreeProver(size: UInt64(size), reader: tiles)
      for oldSize in 0...size {
        let proof = try prover.consistencyProof(from: UInt64(oldSize))
        guard oldSize == 0 ? proof.isEmpty : proof == tree.consistencyProof(from: oldSize) else {
          Issue.record("from \(oldSize) to \(size)")
          return
        }
        try MerkleTree.verifyConsistency(
          from: UInt64(oldSize), oldRoot: roots[oldSize], to: UInt64(size), root: tree.root, proof: proof)
      }
    }
  }
}
