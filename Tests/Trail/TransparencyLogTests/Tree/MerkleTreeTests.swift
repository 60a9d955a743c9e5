// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct MerkleTreeTests {
  /// Past four full tiles of level 0.
  static let count = 1025
  #if ADDRESS_SANITIZER
    // Each proof costs several; the ordinary run makes all of them.
    private static let step = 8
  #else
    private static let step = 1
  #endif

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

  @Test(.timeLimit(.minutes(5)))
  func `every inclusion proof up to 1,025 entries is the one by the book`() throws {
    let hashes = leafHashes(Self.count)
    let tiles = MemoryTiles(hashes)
    for size in stride(from: 1, through: Self.count, by: Self.step) {
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

  @Test(.timeLimit(.minutes(5)))
  func `every consistency proof up to 1,025 entries is the one by the book`() throws {
    let hashes = leafHashes(Self.count)
    let tiles = MemoryTiles(hashes)
    var roots = [TreeHash.empty]
    for size in 1...Self.count {
      let tree = NaiveTree(hashes[..<size])
      roots.append(tree.root)
      var prover = try TreeProver(size: UInt64(size), reader: tiles)
      for oldSize in stride(from: 0, through: size, by: Self.step) {
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

  @Test func `no index, size or length of a proof is too much for verification`() {
    let numbers: [UInt64] = [0, 1, 2, 255, 256, 257, 1 << 32, 1 << 63 - 1, 1 << 63, .max - 1, .max]
    let lengths = [0, 1, 32, 62, 63, 64, 65, 127, 128, 129]
    for a in numbers {
      for b in numbers {
        for length in lengths {
          let proof = [TreeHash](repeating: .empty, count: length)
          #expect(throws: ProofError.self) {
            try MerkleTree.verifyInclusion(
              leafHash: .leaf([1]), index: a, size: b, root: .leaf([2]), proof: proof)
          }
          guard a > 0 || length > 0 || b == 0 else { continue }
          #expect(throws: ProofError.self) {
            try MerkleTree.verifyConsistency(
              from: a, oldRoot: .leaf([1]), to: b, root: .leaf([2]), proof: proof)
          }
        }
      }
    }
  }

  @Test func `what does not match is named`() throws {
    let tiles = MemoryTiles(leafHashes(7))
    let root = tiles.frontier.root
    let oldRoot = try MerkleTree.root(size: 3, reader: tiles)
    let leafHash = leafHashes(7)[4]
    let inclusion = try MerkleTree.inclusionProof(index: 4, size: 7, reader: tiles)
    let consistency = try MerkleTree.consistencyProof(from: 3, to: 7, reader: tiles)
    func included(_ index: UInt64, _ size: UInt64, _ root: TreeHash, _ proof: [TreeHash]) -> ProofError.Code?
    {
      do throws(ProofError) {
        try MerkleTree.verifyInclusion(leafHash: leafHash, index: index, size: size, root: root, proof: proof)
      } catch { return error.code }
      return nil
    }
    func consistent(
      _ oldSize: UInt64, _ oldRoot: TreeHash, _ size: UInt64, _ root: TreeHash, _ proof: [TreeHash]
    ) -> ProofError.Code? {
      do throws(ProofError) {
        try MerkleTree.verifyConsistency(from: oldSize, oldRoot: oldRoot, to: size, root: root, proof: proof)
      } catch { return error.code }
      return nil
    }
    #expect(included(4, 7, root, inclusion) == nil)
    #expect(included(7, 7, root, inclusion) == .indexOutOfRange)
    #expect(included(0, 0, .empty, []) == .indexOutOfRange)
    #expect(included(4, 7, root, inclusion + [root]) == .wrongLength)
    #expect(included(4, 7, root, inclusion.dropLast()) == .wrongLength)
    #expect(included(4, 7, oldRoot, inclusion) == .rootMismatch)
    #expect(included(5, 7, root, inclusion) == .rootMismatch)
    #expect(consistent(3, oldRoot, 7, root, consistency) == nil)
    #expect(consistent(3, oldRoot, 7, oldRoot, consistency) == .rootMismatch)
    #expect(consistent(3, root, 7, root, consistency) == .oldRootMismatch)
    #expect(consistent(3, oldRoot, 7, root, consistency.dropLast()) == .wrongLength)
    #expect(consistent(7, root, 3, oldRoot, consistency) == .sizesInWrongOrder)
    #expect(consistent(7, root, 7, root, []) == nil)
    #expect(consistent(7, root, 7, root, [root]) == .wrongLength)
    #expect(consistent(7, root, 7, oldRoot, []) == .rootMismatch)
    #expect(consistent(0, .empty, 7, root, []) == nil)
    #expect(consistent(0, .empty, 7, root, consistency) == .wrongLength)
    #expect(consistent(0, root, 7, root, []) == .oldRootMismatch)
    #expect(consistent(0, .empty, 0, root, []) == .rootMismatch)
  }
}
