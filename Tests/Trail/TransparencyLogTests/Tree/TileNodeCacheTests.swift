// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct TileNodeCacheTests {
  @Test("Proofs are the same with a cache, however little it holds")
  func proofsAreTheSame() throws {
    let tiles = MemoryTiles(leafHashes(70_000))
    let caches = [1, 2, 7, 256].map { TileNodeCache(capacity: $0) }
    for size: UInt64 in [1, 2, 255, 256, 257, 1000, 65_535, 65_536, 65_537, 66_000, 70_000] {
      let root = try MerkleTree.root(size: size, reader: tiles)
      for cache in caches {
        #expect(try MerkleTree.root(size: size, reader: tiles, cache: cache) == root)
      }
      for index in stride(from: 0, to: size, by: Int(max(1, size / 40))) {
        let proof = try MerkleTree.inclusionProof(index: index, size: size, reader: tiles)
        let consistency = try MerkleTree.consistencyProof(from: index, to: size, reader: tiles)
        for cache in caches {
          let cached = try MerkleTree.inclusionProof(index: index, size: size, reader: tiles, cache: cache)
          #expect(cached == proof)
          let fromCache = try MerkleTree.consistencyProof(
            from: index, to: size, reader: tiles, cache: cache)
          #expect(fromCache == consistency)
        }
      }
    }
  }

  @Test("Upper tiles are read once, those of the lowest level each time")
  func readsUpperTilesOnce() throws {
    let tiles = MemoryTiles(leafHashes(66_000))
    let cache = TileNodeCache()
    _ = try MerkleTree.inclusionProof(index: 5, size: 66_000, reader: tiles, cache: cache)
    let first = tiles.reads.count
    _ = try MerkleTree.inclusionProof(index: 5, size: 66_000, reader: tiles, cache: cache)
    #expect(tiles.reads.count == first + 1)
    #expect(tiles.reads.last?.level == 0)
  }
}
