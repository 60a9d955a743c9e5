// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct CheckpointTests {
  /// The example of C2SP tlog-cosignature, whose keys are not published.
  static let example = """
    example.com/behind-the-sofa
    20852163
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

    — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
    — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==

    """

  @Test func `the example of the specification is read`() throws {
    let signed = try SignedCheckpoint(parsing: Array(Self.example.utf8))
    #expect(signed.unverifiedCheckpoint.origin == "example.com/behind-the-sofa")
    #expect(signed.unverifiedCheckpoint.size == 20_852_163)
    #expect(signed.unverifiedCheckpoint.root.base64 == "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=")
    #expect(signed.unverifiedCheckpoint.extensionLines.isEmpty)
    #expect(signed.unverifiedCheckpoint.text == signed.note.text)
    #expect(signed.note.signatures.map(\.signature.count) == [64, 72])
    #expect(signed.encoded == Array(Self.example.utf8))
  }

  @Test func `a checkpoint is signed, read and verified`() throws {
    let key = try signer("example.com/log")
    for (size, lines) in [(UInt64(0), []), (1, []), (.max, ["one", "another \u{2014} line"])] {
      let checkpoint = try Checkpoint(
        origin: key.name, size: size, root: size == 0 ? .empty : .leaf([1]), extensionLines: lines)
      let read = try SignedCheckpoint(parsing: checkpoint.signed(by: key).encoded)
      #expect(try read.verified(by: key.verifierKey).checkpoint == checkpoint)
    }
  }

  @Test func `a checkpoint of another log, or by another key, is not verified`() throws {
    let key = try signer("example.com/log")
    let checkpoint = try Checkpoint(origin: "example.com/other", size: 1, root: .leaf([1]))
    let signed = try checkpoint.signed(by: key)
    var error = #expect(throws: NoteError.self) { try signed.verified(by: key.verifierKey) }
    #expect(error?.code == .wrongOrigin)
    #expect(try signed.verified(by: key.verifierKey, origin: "example.com/other").checkpoint == checkpoint)
    error = #expect(throws: NoteError.self) {
      try signed.verified(by: signer("example.com/other").verifierKey)
    }
    #expect(error?.code == .notSigned)
    error = #expect(throws: NoteError.self) {
      try signed.verified(by: key.cosignatureVerifierKey, origin: "example.com/other")
    }
    #expect(error?.code == .notSigned)
  }

  @Test func `faults are named with their line`() {
    let end = "\n— a AAAAAAE=\n"
    let root = TreeHash.leaf([1]).base64
    func fails(_ code: LogFormatError.Code, _ place: LogFormatError.Place, _ text: String) -> Bool {
      expectFormatError(code, place, text + end) { _ = try SignedCheckpoint(parsing: $0) }
    }
    #expect(fails(.truncated, .line(2), "origin\n"))
    #expect(fails(.truncated, .line(3), "origin\n1\n"))
    #expect(fails(.unexpectedLine, .line(1), "\n1\n\(root)\n"))
    #expect(fails(.malformedNumber, .line(2), "origin\n01\n\(root)\n"))
    #expect(fails(.malformedNumber, .line(2), "origin\n+1\n\(root)\n"))
    #expect(fails(.malformedNumber, .line(2), "origin\n-1\n\(root)\n"))
    #expect(fails(.malformedNumber, .line(2), "origin\n1 \n\(root)\n"))
    #expect(fails(.malformedNumber, .line(2), "origin\n18446744073709551616\n\(root)\n"))
    #expect(fails(.malformedNumber, .line(2), "origin\n99999999999999999999\n\(root)\n"))
    #expect(fails(.malformedHash, .line(3), "origin\n1\n\(root.dropLast())\n"))
    #expect(fails(.malformedHash, .line(3), "origin\n1\n\(root)=\n"))
    #expect(fails(.wrongEmptyRoot, .line(3), "origin\n0\n\(root)\n"))
    #expect(fails(.unexpectedLine, .line(4), "origin\n1\n\(root)\n\nextension\n"))
  }

  @Test func `what cannot be a line of a checkpoint is refused`() {
    for (origin, lines) in [("", []), ("a\nb", []), ("a", [""]), ("a", ["x", "y\nz"]), ("a\r", [])] {
      let error = #expect(throws: LogFormatError.self) {
        try Checkpoint(origin: origin, size: 1, root: .leaf([1]), extensionLines: lines)
      }
      #expect(error?.code == .malformedName)
    }
    let error = #expect(throws: LogFormatError.self) {
      try Checkpoint(origin: "a", size: 0, root: .leaf([1]))
    }
    #expect(error?.code == .wrongEmptyRoot)
  }

  @Test func `no mutation of a checkpoint is accepted`() throws {
    let key = try signer("example.com/log")
    let checkpoint = try Checkpoint(origin: key.name, size: 1234, root: .leaf([1]), extensionLines: ["more"])
    try forEachMutation(of: checkpoint.signed(by: key).encoded) { position, mutated in
      guard let parsed = try? SignedCheckpoint(parsing: mutated) else { return }
      #expect(throws: NoteError.self, "byte \(position)") { try parsed.verified(by: key.verifierKey) }
    }
  }
}
