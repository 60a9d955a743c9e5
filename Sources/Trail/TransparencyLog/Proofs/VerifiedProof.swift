// SPDX-License-Identifier: Apache-2.0

/// A verified statement that an entry is in a log. Only verification creates one.
public struct VerifiedProof: Sendable, Hashable {
  /// The head of the log.
  public let checkpoint: VerifiedCheckpoint
  /// The index of the entry.
  public let index: UInt64
  /// The hash of the entry.
  package let leafHash: TreeHash
}

/// An error that indicates that a proof does not verify, because of its signatures or its hashes.
public enum LogProofError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The checkpoint cannot be trusted.
  case checkpoint(NoteError)
  /// The hashes do not lead from the entry to the root.
  case inclusion(ProofError)

  /// The part that failed, with the reason.
  public var description: String {
    switch self {
    case .checkpoint(let error): "checkpoint: \(error)"
    case .inclusion(let error): "inclusion: \(error)"
    }
  }
}

extension LogProof {
  /// Verifies that the entry is in the log with this key.
  ///
  /// - Parameters:
  ///   - entry: The entry, as the log holds it.
  ///   - key: The log's key.
  ///   - origin: The log's origin, if it differs from the name of the key.
  /// - Returns: The verified proof.
  /// - Throws: ``LogProofError``.
  public func verify(
    entry: [UInt8], by key: NoteVerifierKey, origin: String? = nil
  ) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash: .leaf(entry), by: key, origin: origin)
  }

  /// Verifies that the entry with this hash is in the log with this key.
  ///
  /// - Parameters:
  ///   - leafHash: The hash of the entry.
  ///   - key: The log's key.
  ///   - origin: The log's origin, if it differs from the name of the key.
  /// - Returns: The verified proof.
  /// - Throws: ``LogProofError``.
  package func verify(
    leafHash: TreeHash, by key: NoteVerifierKey, origin: String? = nil
  ) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash) { () throws(NoteError) in try checkpoint.verified(by: key, origin: origin) }
  }

  /// Verifies that the entry is in a log of the policy, and that the policy's witnesses have cosigned the checkpoint.
  ///
  /// - Throws: ``LogProofError``.
  public func verify(entry: [UInt8], policy: WitnessPolicy) throws(LogProofError) -> VerifiedProof {
    try verify(leafHash: .leaf(entry), policy: policy)
  }

  /// Verifies that the entry with this hash is in a log of the policy, and that the policy's witnesses have cosigned
  /// the checkpoint.
  ///
  /// - Throws: ``LogProofError``.
  package func verify(leafHash: TreeHash, policy: WitnessPolicy) throws(LogProofError) -> VerifiedProof {
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
