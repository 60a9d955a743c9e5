// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import TransparencyLog

/// The formats of transparency logs. The first byte says what the rest is:
///
/// 0 note, 1 checkpoint, 2 proof, 3 policy, 4 entry bundle, 5 witness request, 6 witness answer, 7 verifier key,
/// 8 tile path, 9 changes to signed samples, 10 hashes of a proof.
func fuzzTransparencyLog(_ bytes: [UInt8]) {
  guard let mode = bytes.first else { return }
  let rest = Array(bytes.dropFirst())
  switch mode {
  case 0:
    guard let note = try? SignedNote(parsing: rest) else { return }
    require(note.encoded == rest, "the note has another spelling")
    require((try? note.verified(by: [SignedProofs.log.verifierKey])) == nil, "an unsigned note is verified")
  case 1:
    guard let checkpoint = try? SignedCheckpoint(parsing: rest) else { return }
    require(checkpoint.encoded == rest, "the checkpoint has another spelling")
    require(checkpoint.unverifiedCheckpoint.text == checkpoint.note.text, "the text has another spelling")
    _ = try? checkpoint.cosignatures(by: [SignedProofs.witness.cosignatureVerifierKey])
  case 2:
    guard let proof = try? LogProof(parsing: rest) else { return }
    require(proof.encoded == rest, "the proof has another spelling")
    require(
      (try? proof.verify(entry: [], policy: SignedProofs.policy)) == nil, "an unsigned proof is verified")
  case 3:
    guard let policy = try? WitnessPolicy(parsing: rest) else { return }
    let again = mustSucceed("what was written does not parse") { try WitnessPolicy(parsing: policy.encoded) }
    require(again == policy, "the policy changed")
    require(policy.isSatisfied(by: policy.witnesses.map(\.key)), "all witnesses are not enough")
    require(policy.quorum == nil || !policy.isSatisfied(by: []), "no witness is enough")
  case 4:
    guard let bundle = try? EntryBundle(parsing: rest) else { return }
    require(bundle.encoded == rest, "the bundle has another spelling")
  case 5:
    guard let request = try? AddCheckpointRequest(parsing: rest) else { return }
    require(request.encoded == rest, "the request has another spelling")
    let rules = WitnessRules(key: SignedProofs.witness, logs: [SignedProofs.log.verifierKey])
    let decision = mustSucceed("no decision") { try rules.decide(request, latest: nil, at: 1) }
    if case .cosign = decision { require(false, "an unsigned checkpoint is cosigned") }
  case 6:
    for status in [200, 409] {
      guard let answer = try? AddCheckpointResponse(status: status, body: rest) else { continue }
      require(answer.body == rest, "the answer has another spelling")
    }
  case 7:
    guard let text = String(validating: rest, as: UTF8.self), let key = try? NoteVerifierKey(text) else {
      return
    }
    require(Array(key.text.utf8) == rest, "the key has another spelling")
  case 8:
    let text = String(decoding: rest, as: UTF8.self)
    if let tile = TileCoordinates(path: text) { require(tile.path == text, "the path has another spelling") }
    if let tile = TileCoordinates(entryBundlePath: text) {
      require(tile.entryBundlePath == text, "the path has another spelling")
    }
  case 9: SignedProofs.change(rest)
  default: proofs(rest)
  }
}

/// Sizes and an index of eight bytes each, then hashes: nothing that the verification must be afraid of.
private func proofs(_ bytes: [UInt8]) {
  guard bytes.count >= 24 else { return }
  func number(_ index: Int) -> UInt64 {
    bytes[(8 * index)..<(8 * index + 8)].reduce(0) { $0 << 8 | UInt64($1) }
  }
  let hashes = stride(from: 24, to: bytes.count - 31, by: 32).compactMap { TreeHash(bytes[$0..<($0 + 32)]) }
  let root = TreeHash.leaf(bytes)
  let isIncluded: Void? = try? MerkleTree.verifyInclusion(
    leafHash: .empty, index: number(0), size: number(1), root: root, proof: hashes)
  let isConsistent: Void? = try? MerkleTree.verifyConsistency(
    from: number(0), oldRoot: .empty, to: number(2), root: root, proof: hashes)
  require(isIncluded == nil, "a made-up inclusion proof is verified")
  // From nothing every tree grows.
  require(isConsistent == nil || number(0) == 0, "a made-up consistency proof is verified")
}
