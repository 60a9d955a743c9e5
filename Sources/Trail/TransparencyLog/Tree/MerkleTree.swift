// SPDX-License-Identifier: Apache-2.0

/// Computes roots and proofs of a tree from the hashes of a ``TileReader``, and verifies proofs without a reader (RFC
/// 6962 section 2.1).
///
/// Each call reads a tile at most once, and at most two tiles per level. To share nodes between calls, pass a
/// ``TileNodeCache``.
public enum MerkleTree {
  package static let maximumSize = UInt64(Int64.max)

  /// The root of the tree of the first `size` entries.
  ///
  /// - Throws: ``TileError``, an error if the tree has no such index or size, and any error from the reader.
  public static func root(
    size: UInt64, reader: some TileReader, cache: TileNodeCache? = nil
  ) throws -> TreeHash {
    var prover = try TreeProver(size: size, reader: reader, cache: cache)
    return try prover.root()
  }

  /// The proof that entry `index` is in the tree of the first `size` entries, from the leaf's sibling up.
  ///
  /// This is PATH(m, D[n]) of RFC 6962 section 2.1.1.
  ///
  /// - Throws: ``TileError``, an error if the tree has no such index or size, and any error from the reader.
  public static func inclusionProof(
    index: UInt64, size: UInt64, reader: some TileReader, cache: TileNodeCache? = nil
  ) throws -> [TreeHash] {
    var prover = try TreeProver(size: size, reader: reader, cache: cache)
    return try prover.inclusionProof(index: index)
  }

  /// The proof that the tree of the first `size` entries begins with the tree of the first `oldSize`.
  ///
  /// This is PROOF(m, D[n]) of RFC 6962 section 2.1.2. It is empty if `oldSize` is 0 or equals `size`.
  ///
  /// - Throws: ``TileError``, an error if the tree has no such index or size, and any error from the reader.
  public static func consistencyProof(
    from oldSize: UInt64, to size: UInt64, reader: some TileReader, cache: TileNodeCache? = nil
  ) throws -> [TreeHash] {
    var prover = try TreeProver(size: size, reader: reader, cache: cache)
    return try prover.consistencyProof(from: oldSize)
  }
}

extension MerkleTree {
  /// Checks that the entry with `leafHash` is number `index` of the tree of `size` entries with `root`.
  package static func verifyInclusion(
    leafHash: TreeHash, index: UInt64, size: UInt64, root: TreeHash, proof: [TreeHash]
  ) throws(ProofError) {
    guard index < size else {
      throw ProofError(.indexOutOfRange, "a tree of \(size) entries has no entry \(index)")
    }
    // Below the height at which the leaf's path joins the path of the last leaf, siblings can be on either side. From
    // that height on, they are only on the left.
    let inner = bitCount(index ^ (size - 1))
    let border = (index >> UInt64(inner)).nonzeroBitCount
    try checkLength(proof, inner + border)
    var hash = leafHash
    for (height, sibling) in proof.enumerated() {
      let isRight = height >= inner || index >> UInt64(height) & 1 == 1
      hash = isRight ? TreeHash.node(sibling, hash) : TreeHash.node(hash, sibling)
    }
    guard hash == root else {
      throw ProofError(.rootMismatch, "the proof leads to the root \(hash), not \(root)")
    }
  }

  /// Checks that the tree of `size` entries with `root` begins with the tree of `oldSize` entries with `oldRoot`.
  ///
  /// If `oldSize` is 0, the proof must be empty and `oldRoot` must be the hash of the empty tree.
  ///
  /// - Throws: ``ProofError``, which describes the mismatch.
  public static func verifyConsistency(
    from oldSize: UInt64, oldRoot: TreeHash, to size: UInt64, root: TreeHash, proof: [TreeHash]
  ) throws(ProofError) {
    guard oldSize <= size else {
      throw ProofError(.sizesInWrongOrder, "a tree does not grow from \(oldSize) to \(size) entries")
    }
    guard oldSize > 0 else {
      try checkLength(proof, 0)
      try check(oldRoot, isRoot: .empty, .oldRootMismatch)
      if size == 0 { try check(root, isRoot: .empty, .rootMismatch) }
      return
    }
    guard oldSize < size else {
      try checkLength(proof, 0)
      return try check(root, isRoot: oldRoot, .rootMismatch)
    }
    // The proof begins with the last complete subtree of the old tree, unless that subtree is the entire old tree.
    let height = oldSize.trailingZeroBitCount
    let node = oldSize >> UInt64(height) - 1
    let start = node == 0 ? 0 : 1
    let inner = bitCount((oldSize - 1) ^ (size - 1)) - height
    let border = (node >> UInt64(inner)).nonzeroBitCount
    try checkLength(proof, start + inner + border)
    var oldHash = start == 0 ? oldRoot : proof[0]
    var hash = oldHash
    for (height, sibling) in proof.dropFirst(start).enumerated() {
      if height >= inner || node >> UInt64(height) & 1 == 1 {
        // The sibling is to the left of the old tree's edge, so it is in both trees.
        oldHash = TreeHash.node(sibling, oldHash)
        hash = TreeHash.node(sibling, hash)
      } else {
        hash = TreeHash.node(hash, sibling)
      }
    }
    try check(oldRoot, isRoot: oldHash, .oldRootMismatch)
    try check(root, isRoot: hash, .rootMismatch)
  }

  private static func bitCount(_ value: UInt64) -> Int { value.bitWidth - value.leadingZeroBitCount }

  private static func checkLength(_ proof: [TreeHash], _ expected: Int) throws(ProofError) {
    guard proof.count == expected else {
      throw ProofError(.wrongLength, "the proof has \(proof.count) hashes, not \(expected)")
    }
  }

  private static func check(
    _ root: TreeHash, isRoot expected: TreeHash, _ code: ProofError.Code
  ) throws(ProofError) {
    guard root == expected else {
      throw ProofError(code, "the proof leads to the root \(expected), not \(root)")
    }
  }
}
