// SPDX-License-Identifier: Apache-2.0

package import TransparencyLog

/// The check that a proof proves an entry of a trail.
package struct ProofCheck: Sendable {
  /// What vouches for the checkpoint of a proof.
  package enum Trust: Sendable {
    /// The trail's key, or one that replaced it.
    case keys(KeyChain)
    /// The keys of a policy, with witnesses.
    case policy(WitnessPolicy)
  }

  /// An entry that was proven, and the head of the trail that includes it.
  package struct Proven: Sendable {
    package let proof: VerifiedProof
    package let entry: AuditEntry
  }

  /// The error for a proof that is genuine and does not prove what it should.
  package struct NotProven: Error, CustomStringConvertible {
    package let description: String
  }

  private let trust: Trust
  private let receipt: ReceiptDigests?

  /// Creates a check.
  ///
  /// - Parameters:
  ///   - trust: What vouches for the checkpoints.
  ///   - receipt: The receipt that each entry must be about; `nil` for any.
  package init(_ trust: Trust, receipt: ReceiptDigests?) {
    self.trust = trust
    self.receipt = receipt
  }

  /// Checks a proof (C2SP tlog-proof) that holds its entry.
  ///
  /// - Throws: ``NotProven``, or the errors of reading and verifying a proof. One whose `isFailureToCheckNote` is `true`
  ///   says nothing about the proof.
  package func check(_ bytes: [UInt8]) throws -> Proven {
    let proof = try LogProof(parsing: bytes)
    guard let entryBytes = proof.extra else {
      throw NotProven(description: "The proof does not hold the entry.")
    }
    let verified =
      switch trust {
      case .keys(let chain): try chain.verify(proof, entry: entryBytes)
      case .policy(let policy): try proof.verify(entry: entryBytes, policy: policy)
      }
    let entry = try AuditEntry(parsing: entryBytes)
    if let receipt, !receipt.areNamed(in: entry.facts) {
      throw NotProven(
        description: "The entry is in the trail, but it is about another receipt than the one given.")
    }
    return Proven(proof: verified, entry: entry)
  }
}
