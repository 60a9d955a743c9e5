// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct GroupedTileTests {
  /// Every entry of trees that end in a full tile, just after one and just before one, and of one with two levels of
  /// full tiles.
  @Test(arguments: [255, 256, 257, 511, 512, 1025, 65_792]) func proofsAreThoseOfTheTilesAlone(size: Int)
    throws
  {
    let tiles = MemoryTiles(leafHashes(size))
    tiles.givesGroups = true
    let naive = NaiveTree(leafHashes(size)[...])
    #expect(try MerkleTree.root(size: UInt64(size), reader: tiles) == naive.root)
    for index in stride(from: 0, to: size, by: size > 2000 ? 97 : 1) {
      let proof = try MerkleTree.inclusionProof(index: UInt64(index), size: UInt64(size), reader: tiles)
      #expect(proof == naive.inclusionProof(index))
    }
    let cache = TileNodeCache()
    for index in stride(from: 0, to: size, by: 61) {
      let proof = try MerkleTree.inclusionProof(
        index: UInt64(index), size: UInt64(size), reader: tiles, cache: cache)
      #expect(proof == naive.inclusionProof(index))
    }
  }

  @Test func theRootsAreUsed() throws {
    let tiles = MemoryTiles(leafHashes(600))
    tiles.givesGroups = true
    let before = try MerkleTree.inclusionProof(index: 3, size: 600, reader: tiles)
    tiles.groupRoots["tile/0/000"]?[1] = .empty
    let after = try MerkleTree.inclusionProof(index: 3, size: 600, reader: tiles)
    // The root of the second group is the sixth sibling of an entry of the first.
    #expect(before.count == after.count)
    #expect(zip(before, after).map { $0 == $1 } == (0..<before.count).map { $0 != 5 })
    #expect(after[5] == .empty)
  }

  /// A tree that is opened anew has the same groups as one that was never closed.
  @Test(arguments: [1, 31, 32, 33, 250, 256, 300, 8000, 65_535, 65_600]) func areRebuilt(size: Int) throws {
    let whole = MemoryTiles(leafHashes(size))
    var rebuilt = try TreeFrontier(size: UInt64(size), reader: whole)
    #expect(rebuilt == whole.frontier)
    for hash in leafHashes(70_000).dropFirst(size).prefix(600) {
      rebuilt.append(hash) { _, tile in
        #expect(tile.groupRoots == GroupedTile.groupRoots(of: tile.hashes))
      }
    }
  }
}
