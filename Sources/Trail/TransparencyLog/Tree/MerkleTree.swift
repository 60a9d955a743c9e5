// SPDX-License-Identifier: Apache-2.0

/// Computes roots and proofs of a tree from the hashes of a ``TileReader``, and verifies proofs without a reader (RFC
/// 6962 section 2.1).
///
/// Each call reads a tile at most once, and at most two tiles per level. To share nodes between calls, pass a
/// ``TileNodeCache``.
public enum MerkleTree {
  /// The maximum number of entries in a tree: 2^63 - 1.
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
