// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct CosignatureTests {
  let log: NoteSignerKey
  let witness: NoteSignerKey
  let signed: SignedCheckpoint

  init() throws {
    log = try signer("example.com/log", 1)
    witness = try signer("witness.example/w1", 2)
    signed = try Checkpoint(origin: log.name, size: 5, root: .leaf([1])).signed(by: log)
  }

  @Test func `what is signed is two lines and the checkpoint`() throws {
    let line = try signed.unverifiedCheckpoint.cosigned(by: witness, timestamp: 1_679_315_147)
    #expect(line.name == "witness.example/w1")
    #expect(line.keyID == witness.cosignatureVerifierKey.keyID)
    #expect(line.signature.count == 72)
    #expect(Array(line.signature[..<8]) == [0, 0, 0, 0, 0x64, 0x18, 0x50, 0xCB])
    let message =
      "cosignature/v1\ntime 1679315147\nexample.com/log\n5\n\(TreeHash.leaf([1]).base64)\n"
    #expect(
      try witness.cosignatureVerifierKey.publicKey.isValidSignature(
        Array(line.signature[8...]), for: Array(message.utf8)))
  }

  @Test func `a cosignature is added, read and verified, and the log's signature stands`() throws {
    let line = try signed.unverifiedCheckpoint.cosigned(by: witness, timestamp: 7)
    let cosigned = try SignedCheckpoint(parsing: signed.adding([line]).encoded)
    let found = try cosigned.cosignatures(by: [witness.cosignatureVerifierKey])
    #expect(found.map(\.key) == [witness.cosignatureVerifierKey])
    #expect(found.map(\.timestamp) == [7])
    #expect(try cosigned.verified(by: log.verifierKey).cosignatures.isEmpty)
    // Neither a stranger nor the witness's note key cosigned it.
    let others = [try signer("witness.example/w1", 3).cosignatureVerifierKey, witness.verifierKey]
    #expect(try cosigned.cosignatures(by: others).isEmpty)
    #expect(try signed.cosignatures(by: [witness.cosignatureVerifierKey]).isEmpty)
  }

  @Test func `of several by one witness the newest counts`() throws {
    let lines = try [9, 11, 10].map { try signed.unverifiedCheckpoint.cosigned(by: witness, timestamp: $0) }
    let found = try signed.adding(lines).cosignatures(by: [witness.cosignatureVerifierKey])
    #expect(found.map(\.timestamp) == [11])
  }

  @Test func `a time beyond 2^63 - 1 is refused, signing and verifying`() throws {
    let checkpoint = signed.unverifiedCheckpoint
    let latest = try checkpoint.cosigned(by: witness, timestamp: Cosignature.maximumTimestamp)
    #expect(try signed.adding([latest]).cosignatures(by: [witness.cosignatureVerifierKey]).count == 1)
    let error = #expect(throws: LogFormatError.self) {
      try checkpoint.cosigned(by: witness, timestamp: Cosignature.maximumTimestamp + 1)
    }
    #expect(error?.code == .malformedNumber)
  }

  @Test func `a cosignature of the time 0 is neither made nor counted`() throws {
    let checkpoint = signed.unverifiedCheckpoint
    let error = #expect(throws: LogFormatError.self) { try checkpoint.cosigned(by: witness, timestamp: 0) }
    #expect(error?.code == .malformedNumber)
    let zero = try cosignatureOfTimeZero(of: checkpoint, by: witness, seed: 2)
    let keys = [witness.cosignatureVerifierKey]
    // Its signature is right, so that it spoils nothing.
    #expect(try signed.adding([zero]).cosignatures(by: keys).isEmpty)
    let one = try checkpoint.cosigned(by: witness, timestamp: 1)
    #expect(try signed.adding([zero, one]).cosignatures(by: keys).map(\.timestamp) == [1])
    let policy = try WitnessPolicy(logs: [log.verifierKey], witnesses: keys, threshold: 1)
    #expect(throws: NoteError.self) { try policy.verify(signed.adding([zero])) }
    #expect(try policy.verify(signed.adding([one])).cosignatures.count == 1)
  }

  @Test func `no mutation of a cosignature is accepted`() throws {
    let line = try signed.unverifiedCheckpoint.cosigned(by: witness, timestamp: 1_679_315_147)
    let bytes = try signed.adding([line]).encoded
    let start = signed.encoded.count
    let logLine = signed.unverifiedCheckpoint.text.count + 1
    forEachMutation(of: bytes) { position, mutated in
      guard let parsed = try? SignedCheckpoint(parsing: mutated),
        let found = try? parsed.cosignatures(by: [witness.cosignatureVerifierKey]), !found.isEmpty
      else { return }
      // The witness signs the text, and not the log's signature line.
      #expect((logLine..<start).contains(position), "byte \(position)")
      #expect(found.map(\.timestamp) == [1_679_315_147])
      #expect(parsed.unverifiedCheckpoint == signed.unverifiedCheckpoint)
      #expect(throws: NoteError.self) { try parsed.verified(by: log.verifierKey) }
    }
  }
}
