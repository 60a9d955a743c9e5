// SPDX-License-Identifier: Apache-2.0

/// Roots and proofs of a tree whose hashes a ``TileReader`` gives, and their verification, which needs no reader
/// (RFC 6962 section 2.1).
///
/// Each tile is read at most once a call, and no more than two tiles a level. ``TreeProver`` makes many proofs of
/// one tree; a ``TileNodeCache`` keeps what calls have in common.
public enum MerkleTree {
  /// The most entries that a tree can have: 2^63 - 1.
  public static let maximumSize = UInt64(Int64.max)

  /// The root of the tree of the first `size` entries.
  ///
  /// - Throws: ``MerkleTreeError``, ``TileError``, and whatever the reader throws.
  public static func root(
    size: UInt64, reader: some TileReader, cache: TileNodeCache? = nil
  ) throws -> TreeHash {
    var prover = try TreeProver(size: size, reader: reader, cache: cache)
    return try prover.root()
  }

  /// The proof that entry `index` is in the tree of the first `size` entries: PATH(m, D[n]) of section 2.1.1,
  /// from the leaf's sibling up.
  ///
  /// - Throws: ``MerkleTreeError``, ``TileError``, and whatever the reader throws.
  public static func inclusionProof(
    index: UInt64, size: UInt64, reader: some TileReader, cache: TileNodeCache? = nil
  ) throws -> [TreeHash] {
    var prover = try TreeProver(size: size, reader: reader, cache: cache)
    return try prover.inclusionProof(index: index)
  }

  /// The proof that the tree of the first `size` entries begins with that of the first `oldSize`: PROOF(m, D[n])
  /// of section 2.1.2. Empty from size 0, and to the same size.
  ///
  /// - Throws: ``MerkleTreeError``, ``TileError``, and whatever the reader throws.
  public static func consistencyProof(
    from oldSize: UInt64, to size: UInt64, reader: some TileReader, cache: TileNodeCache? = nil
  ) throws -> [TreeHash] {
    var prover = try TreeProver(size: size, reader: reader, cache: cache)
    return try prover.consistencyProof(from: oldSize)
  }
}

/// A question that no tree can answer.
public struct MerkleTreeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no entry of this index in a tree of this size.
    case indexOutOfRange = "index-out-of-range"
    /// The older tree is the larger one.
    case sizesInWrongOrder = "sizes-in-wrong-order"
    /// A tree has at most 2^63 - 1 entries.
    case sizeTooLarge = "size-too-large"
  }

  /// The kind of fault.
  public let code: Code
  /// The same, with the numbers.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}
