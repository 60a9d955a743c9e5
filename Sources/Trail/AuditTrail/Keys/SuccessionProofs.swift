// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// The proofs of the entries that replaced the keys of a trail, as they are stored or were exported, to be compared
/// with the entries themselves.
struct SuccessionProofs {
  let proofs: [LogProof]

  /// Compares the proofs with the entries that replaced the key, in order; `nil` if they are the proofs of these.
  ///
  /// The first key is not in any entry: the signature of the first proof is verified only if the first key is the
  /// trusted one.
  func fault(
    entries: [UInt64], trusting trusted: NoteVerifierKey, root: (UInt64) throws -> TreeHash
  ) throws -> String? {
    guard proofs.map(\.index) == entries else {
      return
        "The trail's key was replaced by \(Self.name(entries)); there are proofs of \(Self.name(proofs.map(\.index)))."
    }
    guard let first = proofs.first else { return nil }
    var keys = try KeySuccession(first, by: trusted) == nil ? [] : [trusted]
    for proof in proofs {
      let checkpoint = proof.checkpoint.unverifiedCheckpoint
      let isSigned = try keys.last.map { try KeySuccession(proof, by: $0) != nil } ?? true
      guard isSigned, let key = KeySuccession.key(in: proof), checkpoint.origin == trusted.name,
        checkpoint.size == proof.index + 1, try checkpoint.root == root(checkpoint.size),
        proof.checkpoint.note.signatures.count == 1, Self.isIncluded(proof)
      else {
        return "The proof of entry \(proof.index), which replaced the trail's key, is not one of the trail."
      }
      keys.append(key)
    }
    return keys.contains(trusted)
      ? nil : "The proofs of the entries that replaced the trail's key do not lead to it."
  }

  private static func isIncluded(_ proof: LogProof) -> Bool {
    let checkpoint = proof.checkpoint.unverifiedCheckpoint
    do {
      try MerkleTree.verifyInclusion(
        leafHash: .leaf(proof.extra ?? []), index: proof.index, size: checkpoint.size, root: checkpoint.root,
        proof: proof.inclusionProof)
      return true
    } catch { return false }
  }

  private static func name(_ indexes: [UInt64]) -> String {
    indexes.isEmpty ? "none" : "entries " + indexes.map(String.init).joined(separator: ", ")
  }
}
