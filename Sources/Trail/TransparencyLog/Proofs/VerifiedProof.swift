// SPDX-License-Identifier: Apache-2.0

/// A verified proof that an entry is in a log. Only verification makes one.
public struct VerifiedProof: Sendable, Hashable {
  /// The head of the log.
  public let checkpoint: VerifiedCheckpoint
  /// The index of the entry.
  public let index: UInt64
  /// The hash of the entry.
  public let leafHash: TreeHash
}

/// A proof that does not prove what it should: the reason of the signatures or of the hashes.
public enum LogProofError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The checkpoint is not to be trusted.
  case checkpoint(NoteError)
  /// The hashes do not lead from the entry to the root.
  case inclusion(ProofError)

  /// The reason.
  public var description: String {
    switch self {
    case .checkpoint(let error): "checkpoint: \(error)"
    case .inclusion(let error): "inclusion: \(error)"
    }
  }
}

extension LogProof {
  /// Verifies that the log with this key has the entry.
  ///
  /// - Parameters:
  ///   - entry: The entry, as the log holds it.
  ///   - key: The log's key.
  ///   - origin: The log's origin, where the key has another name.
  /// - Returns: What is proved.
  /// - Throws: ``LogProofError``.
  public func verify(
    entry: [UInt8], by key: NoteVerifierKey, origin: String? = nil
  ) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash: .leaf(entry), by: key, origin: origin)
  }

  /// Verifies that the log with this key has the entry with this hash.
  ///
  /// - Parameters:
  ///   - leafHash: The hash of the entry.
  ///   - key: The log's key.
  ///   - origin: The log's origin, where the key has another name.
  /// - Returns: What is proved.
  /// - Throws: ``LogProofError``.
  public func verify(
    leafHash: TreeHash, by key: NoteVerifierKey, origin: String? = nil
  ) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash) { () throws(NoteError) in try checkpoint.verified(by: key, origin: origin) }
  }

  /// Verifies that a log of the policy has the entry, and that the policy's witnesses have seen its checkpoint.
  ///
  /// - Throws: ``LogProofError``.
  public func verify(entry: [UInt8], policy: WitnessPolicy) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash: .leaf(entry), policy: policy)
  }

  /// Verifies that a log of the policy has the entry with this hash, and that the policy's witnesses have seen its
  /// checkpoint.
  ///
  /// - Throws: ``LogProofError``.
  public func verify(leafHash: TreeHash, policy: WitnessPolicy) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash) { () throws(NoteError) in try policy.verify(checkpoint) }
  }

  private func verify(
    _ leafHash: TreeHash, _ verifyCheckpoint: () throws(NoteError) -> VerifiedCheckpoint
  ) throws(LogProofError) -> VerifiedProof {
    let verified: VerifiedCheckpoint
    do throws(NoteError) { verified = try verifyCheckpoint() } catch { throw .checkpoint(error) }
    do throws(ProofError) {
      try MerkleTree.verifyInclusion(
        leafHash: leafHash, index: index, size: verified.checkpoint.size, root: verified.checkpoint.root,
        proof: inclusionProof)
    } catch { throw .inclusion(error) }
    return VerifiedProof(checkpoint: verified, index: index, leafHash: leafHash)
  }
}
