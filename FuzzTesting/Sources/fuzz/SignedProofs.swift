// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import TransparencyLog

/// Proofs signed here, with keys that are the same in every run.
enum SignedProofs {
  static let log = signer("example.com/log", 1)
  static let witness = signer("example.com/witness", 2)
  static let policy = mustSucceed("the policy cannot be made") {
    try WitnessPolicy(
      logs: [log.verifierKey], witnesses: [witness.cosignatureVerifierKey], threshold: 1)
  }

  private static let entry = Array("entry".utf8)

  private static let proof: [UInt8] = mustSucceed("the proof cannot be made") {
    let sibling = TreeHash.leaf([0])
    let checkpoint = try Checkpoint(
      origin: log.name, size: 3, root: .node(.node(sibling, .leaf(entry)), sibling))
    return try LogProof(
      index: 1, inclusionProof: [sibling, sibling],
      checkpoint: checkpoint.signed(by: log).adding([checkpoint.cosigned(by: witness, timestamp: 1)])
    ).encoded
  }

  /// Changes a valid proof, by pairs of position and difference, and cuts it where three bytes are left.
  static func change(_ changes: [UInt8]) {
    var bytes = proof
    var rest = changes[...]
    while rest.count >= 3 {
      let position = (Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])) % bytes.count
      bytes[position] ^= rest[rest.startIndex + 2]
      rest = rest.dropFirst(3)
    }
    if let cut = rest.first { bytes = Array(bytes.prefix(Int(cut) * 4)) }
    guard bytes != proof, let parsed = try? LogProof(parsing: bytes) else { return }
    require(parsed.encoded == bytes, "the proof has another spelling")
    require((try? parsed.verify(entry: entry, policy: policy)) == nil, "a changed proof is verified")
  }

  private static func signer(_ name: String, _ seed: UInt8) -> NoteSignerKey {
    mustSucceed("the key cannot be made") {
      try NoteSignerKey(
        name: name, privateKey: Ed25519PrivateKey(rawRepresentation: [UInt8](repeating: seed, count: 32)))
    }
  }
}
