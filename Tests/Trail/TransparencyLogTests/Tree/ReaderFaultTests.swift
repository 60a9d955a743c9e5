// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct ReaderFaultTests {
  struct ShortTiles: TileReader {
    let tiles: MemoryTiles
    let short: String

    func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
      let hashes = try tiles.tile(coordinates).prefix(coordinates.width)
      return Array(coordinates.path == short ? hashes.dropLast() : hashes)
    }
  }

  struct Unreadable: TileReader {
    struct Fault: Error, Equatable {}
    func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] { throw Fault() }
  }

  @Test func `a tile with too few hashes is named`() throws {
    let tiles = MemoryTiles(leafHashes(700))
    for path in ["tile/0/002.p/188", "tile/1/000.p/2"] {
      let reader = ShortTiles(tiles: tiles, short: path)
      let coordinates = try #require(TileCoordinates(path: path))
      let expected = TileError(code: .tooShort, coordinates: coordinates, found: coordinates.width - 1)
      #expect(throws: expected) { try MerkleTree.root(size: 700, reader: reader) }
      #expect(throws: expected) { try MerkleTree.inclusionProof(index: 3, size: 700, reader: reader) }
      #expect(throws: expected) { try MerkleTree.consistencyProof(from: 600, to: 700, reader: reader) }
      #expect(throws: expected) { try TreeFrontier(size: 700, reader: reader) }
    }
  }

  @Test func `the reader's own fault arrives as it is`() {
    #expect(throws: Unreadable.Fault()) { try MerkleTree.root(size: 1, reader: Unreadable()) }
    #expect(throws: Unreadable.Fault()) {
      try MerkleTree.inclusionProof(index: 0, size: 2, reader: Unreadable())
    }
    #expect(throws: Unreadable.Fault()) {
      try MerkleTree.consistencyProof(from: 1, to: 2, reader: Unreadable())
    }
    #expect(throws: Unreadable.Fault()) { try TreeFrontier(size: 1, reader: Unreadable()) }
    #expect(throws: Never.self) { try MerkleTree.root(size: 0, reader: Unreadable()) }
    #expect(throws: Never.self) { try MerkleTree.consistencyProof(from: 0, to: 9, reader: Unreadable()) }
  }

  @Test func `questions without an answer are refused before anything is read`() {
    func code(_ body: () throws -> Void) -> MerkleTreeError.Code? {
      do { try body() } catch { return (error as? MerkleTreeError)?.code }
      return nil
    }
    let reader = Unreadable()
    let tooLarge = UInt64(1) << 63
    #expect(code { _ = try MerkleTree.inclusionProof(index: 5, size: 5, reader: reader) } == .indexOutOfRange)
    #expect(code { _ = try MerkleTree.inclusionProof(index: 0, size: 0, reader: reader) } == .indexOutOfRange)
    #expect(
      code { _ = try MerkleTree.consistencyProof(from: 6, to: 5, reader: reader) } == .sizesInWrongOrder)
    #expect(code { _ = try MerkleTree.root(size: tooLarge, reader: reader) } == .sizeTooLarge)
    #expect(code { _ = try MerkleTree.inclusionProof(index: 0, size: .max, reader: reader) } == .sizeTooLarge)
    #expect(code { _ = try MerkleTree.consistencyProof(from: 1, to: .max, reader: reader) } == .sizeTooLarge)
    #expect(code { _ = try TreeFrontier(size: tooLarge, reader: reader) } == .sizeTooLarge)
  }

  /// Every tile full of the same hash: a tree of any size.
  final class AnyTree: TileReader {
    var reads: Set<TileCoordinates> = []
    func tile(_ coordinates: TileCoordinates) -> [TreeHash] {
      #expect(reads.insert(coordinates).inserted, "\(coordinates) is read twice")
      return [TreeHash](repeating: .empty, count: coordinates.width)
    }
  }

  @Test func `the largest trees take no more than two tiles a level`() throws {
    let size = MerkleTree.maximumSize
    for index in [0, 1, 255, 256, size / 2, size - 256, size - 1] {
      let reader = AnyTree()
      let proof = try MerkleTree.inclusionProof(index: index, size: size, reader: reader)
      #expect(reader.reads.count <= 16)
      #expect(proof.count <= 63)
      let old = AnyTree()
      _ = try MerkleTree.consistencyProof(from: index, to: size, reader: old)
      #expect(old.reads.count <= 16)
    }
    let reader = AnyTree()
    var frontier = try TreeFrontier(size: size, reader: reader)
    #expect(frontier.root == (try MerkleTree.root(size: size, reader: AnyTree())))
    frontier.append(.empty)
    #expect(frontier.size == size + 1)
  }
}
