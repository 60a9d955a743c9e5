// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct WitnessRulesTests {
  let log: NoteSignerKey
  let rules: WitnessRules
  let tiles = MemoryTiles(leafHashes(600))

  init() throws {
    log = try signer("example.com/log", 1)
    let retired = try signer("example.com/log", 9)
    rules = WitnessRules(
      key: try signer("witness.example/w1", 2), logs: [retired.verifierKey, log.verifierKey])
  }

  func checkpoint(_ size: UInt64) throws -> Checkpoint {
    try Checkpoint(origin: log.name, size: size, root: MerkleTree.root(size: size, reader: tiles))
  }

  func request(from oldSize: UInt64, to size: UInt64) throws -> AddCheckpointRequest {
    try AddCheckpointRequest(
      oldSize: oldSize, consistencyProof: MerkleTree.consistencyProof(from: oldSize, to: size, reader: tiles),
      checkpoint: checkpoint(size).signed(by: log))
  }

  func refusal(_ request: AddCheckpointRequest, latest: Checkpoint?) throws -> AddCheckpointResponse? {
    guard case .refuse(let response, let reason) = try rules.decide(request, latest: latest, at: 1) else {
      return nil
    }
    #expect(!reason.isEmpty)
    return response
  }

  @Test func `a log that grows is cosigned, from nothing on`() throws {
    var latest: Checkpoint?
    for (from, to) in [(UInt64(0), UInt64(0)), (0, 1), (1, 1), (1, 255), (255, 256), (256, 600), (600, 600)] {
      let request = try request(from: from, to: to)
      let decision = try rules.decide(body: request.encoded, latest: { _ in latest }, at: 77)
      guard case .cosign(let verified, let line) = decision else {
        Issue.record("from \(from) to \(to): \(decision)")
        return
      }
      #expect(verified.checkpoint == request.checkpoint.unverifiedCheckpoint)
      let cosigned = try request.checkpoint.adding([line])
      let found = try cosigned.cosignatures(by: [rules.key.cosignatureVerifierKey])
      #expect(found.map(\.timestamp) == [77])
      latest = verified.checkpoint
    }
  }

  @Test func `a body that is no request is 400`() throws {
    for body in ["", "old 1\n", "old 0\n\nno checkpoint\n"] {
      let decision = try rules.decide(
        body: Array(body.utf8),
        latest: { _ in
          Issue.record("asked for the last checkpoint")
          return nil
        }, at: 1)
      guard case .refuse(.badRequest, _) = decision else {
        Issue.record("\(decision)")
        return
      }
    }
  }

  @Test func `an old size beyond the new one is 400`() throws {
    let grown = try request(from: 100, to: 200)
    let backwards = try AddCheckpointRequest(
      oldSize: 201, consistencyProof: grown.consistencyProof, checkpoint: grown.checkpoint)
    #expect(try refusal(backwards, latest: checkpoint(201)) == .badRequest)
  }

  @Test func `a log that is not known is 404`() throws {
    let other = try signer("example.com/other", 1)
    let signed = try Checkpoint(origin: other.name, size: 1, root: .leaf([1])).signed(by: other)
    #expect(
      try refusal(AddCheckpointRequest(oldSize: 0, consistencyProof: [], checkpoint: signed), latest: nil)
        == .unknownLog)
  }

  @Test func `a checkpoint without a signature of a known key is 403`() throws {
    let forger = try signer("example.com/log", 3)
    for signed in [
      try checkpoint(1).signed(by: forger),
      // A line of the known key that it did not make.
      try checkpoint(1).signed(by: forger).adding(checkpoint(2).signed(by: log).note.signatures),
    ] {
      let request = try AddCheckpointRequest(oldSize: 0, consistencyProof: [], checkpoint: signed)
      #expect(try refusal(request, latest: nil) == .notSigned)
    }
    // Beside a line of an unknown key a good one counts.
    let both = try checkpoint(1).signed(by: log).adding(checkpoint(1).signed(by: forger).note.signatures)
    #expect(
      try refusal(AddCheckpointRequest(oldSize: 0, consistencyProof: [], checkpoint: both), latest: nil)
        == nil)
  }

  @Test func `another last checkpoint is 409 with its size`() throws {
    #expect(try refusal(request(from: 0, to: 200), latest: checkpoint(100)) == .conflict(size: 100))
    #expect(try refusal(request(from: 100, to: 200), latest: checkpoint(150)) == .conflict(size: 150))
    #expect(try refusal(request(from: 100, to: 200), latest: nil) == .conflict(size: 0))
    #expect(try refusal(request(from: 100, to: 200), latest: checkpoint(300)) == .conflict(size: 300))
  }

  @Test func `another root at the same size is 422`() throws {
    let forked = try Checkpoint(origin: log.name, size: 100, root: .leaf([9])).signed(by: log)
    let request = try AddCheckpointRequest(oldSize: 100, consistencyProof: [], checkpoint: forked)
    let decision = try rules.decide(request, latest: checkpoint(100), at: 1)
    guard case .refuse(.inconsistent, let reason) = decision else {
      Issue.record("\(decision)")
      return
    }
    #expect(reason.contains("of the same size"))
  }

  @Test func `a checkpoint without entries and with another root than the empty tree's is 422`() throws {
    let text = "\(log.name)\n0\n\(TreeHash.leaf([1]).base64)\n"
    let note = try SignedNote.sign(Array(text.utf8), by: [log])
    let body = Array("old 0\n\n".utf8) + note.encoded
    let decision = try rules.decide(body: body, latest: { _ in nil }, at: 1)
    guard case .refuse(.inconsistent, _) = decision else {
      Issue.record("\(decision)")
      return
    }
  }

  @Test func `nothing is cosigned at the time 0`() throws {
    let request = try request(from: 0, to: 5)
    let error = #expect(throws: LogFormatError.self) { try rules.decide(request, latest: nil, at: 0) }
    #expect(error?.code == .malformedNumber)
    // A request that the rules refuse is refused at the time 0, too.
    guard case .refuse(.conflict(5), _) = try rules.decide(request, latest: checkpoint(5), at: 0) else {
      Issue.record("not refused")
      return
    }
  }

  @Test func `a proof that does not lead there is 422`() throws {
    let good = try request(from: 100, to: 200)
    let forked = try Checkpoint(origin: log.name, size: 200, root: .leaf([9])).signed(by: log)
    let proof = good.consistencyProof
    for (oldSize, proof, signed, latest) in [
      (100, [], good.checkpoint, try checkpoint(100)),
      (100, Array(proof.dropLast()), good.checkpoint, try checkpoint(100)),
      (100, proof + [.empty], good.checkpoint, try checkpoint(100)),
      (100, proof.reversed(), good.checkpoint, try checkpoint(100)),
      (100, proof, forked, try checkpoint(100)),
      (200, proof, good.checkpoint, try checkpoint(200)),
      (0, proof, good.checkpoint, nil),
    ] as [(UInt64, [TreeHash], SignedCheckpoint, Checkpoint?)] {
      let request = try AddCheckpointRequest(oldSize: oldSize, consistencyProof: proof, checkpoint: signed)
      #expect(try refusal(request, latest: latest) == .inconsistent)
    }
  }

  @Test func `no mutation of a request is cosigned, but of what is nobody's`() throws {
    let stranger = try signer("example.com/log", 4)
    let latest = try checkpoint(100)
    let good = try request(from: 100, to: 200)
    let bytes = try AddCheckpointRequest(
      oldSize: 100, consistencyProof: good.consistencyProof,
      checkpoint: good.checkpoint.adding(checkpoint(200).signed(by: stranger).note.signatures)
    ).encoded
    let ignored = good.encoded.count..<(bytes.count + 1)
    try forEachMutation(of: bytes) { position, mutated in
      guard case .cosign(let verified, _) = try rules.decide(body: mutated, latest: { _ in latest }, at: 1)
      else {
        return
      }
      #expect(ignored.contains(position), "byte \(position)")
      #expect(verified.checkpoint == good.checkpoint.unverifiedCheckpoint)
    }
  }
}
