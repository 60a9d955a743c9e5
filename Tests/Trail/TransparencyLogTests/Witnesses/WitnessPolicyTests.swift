// SPDX-License-Identifier: Apache-2.0

import Testing
import TransparencyLog

@Suite struct WitnessPolicyTests {
  let log: NoteSignerKey
  let witnesses: [NoteSignerKey]
  let keys: [NoteVerifierKey]
  /// The example of the specification, with keys.
  let example: String

  init() throws {
    log = try signer("example.com/log", 100)
    witnesses = try (1...6).map { try signer("witness.example/\($0)", $0) }
    keys = witnesses.map(\.cosignatureVerifierKey)
    example = """
      # A comment.
      log \(log.verifierKey)

      witness X1 \(keys[0])
      witness X2 \(keys[1])   https://witness.example/x2/
      \twitness\tX3 \(keys[2])\t
      group X-witnesses 2 X1 X2 X3

      witness Y1 \(keys[3])
      witness Y2 \(keys[4])
      witness Y3 \(keys[5])
      group Y-witnesses any Y1 Y2 Y3
        # Another one.
      group X-and-Y all X-witnesses Y-witnesses
      quorum X-and-Y

      """
  }

  func parse(_ text: String) throws -> WitnessPolicy { try WitnessPolicy(parsing: Array(text.utf8)) }

  @Test func `the example's quorum is two of X and one of Y, for every set of witnesses`() throws {
    let policy = try parse(example)
    #expect(policy.logs.map(\.key) == [log.verifierKey])
    #expect(policy.witnesses.map(\.key) == keys)
    #expect(policy.witnesses[1].url == Array("https://witness.example/x2/".utf8))
    #expect(policy.groups.map(\.threshold) == [2, 1, 2])
    for bits in 0..<64 {
      let chosen = (0..<6).filter { bits >> $0 & 1 == 1 }
      let expected = chosen.count { $0 < 3 } >= 2 && chosen.contains { $0 >= 3 }
      #expect(policy.isSatisfied(by: chosen.map { keys[$0] }) == expected, "\(chosen)")
    }
    // A log's key, or the same key for notes, is no witness.
    #expect(!policy.isSatisfied(by: witnesses.map(\.verifierKey) + [log.verifierKey]))
  }

  @Test func `a policy is written and read`() throws {
    for policy in [
      try parse(example), try WitnessPolicy(logs: [log.verifierKey]), try parse("quorum none\n"),
      try WitnessPolicy(logs: [log.verifierKey], witnesses: keys, threshold: 3),
    ] { #expect(try WitnessPolicy(parsing: policy.encoded) == policy) }
    #expect(try parse("quorum none\n").isSatisfied(by: []))
    let names = try parse("witness \u{E9} \(keys[0])\nquorum \u{E9}\n")
    #expect(names.isSatisfied(by: [keys[0]]))
    #expect(throws: LogFormatError.self) { try parse("witness \u{E9} \(keys[0])\nquorum e\u{301}\n") }
    #expect(throws: LogFormatError.self) {
      try WitnessPolicy(logs: [], witnesses: [keys[0]], threshold: 2)
    }
    // Names need not be UTF-8.
    let bytes = Array("witness ".utf8) + [0xFF] + Array(" \(keys[0])\nquorum ".utf8) + [0xFF, 0x0A]
    #expect(try WitnessPolicy(parsing: bytes).encoded == bytes)
  }

  @Test func `faults are named with their line`() throws {
    func fails(_ code: LogFormatError.Code, _ line: Int, _ text: String) -> Bool {
      expectFormatError(code, .line(line), text) { _ = try WitnessPolicy(parsing: $0) }
    }
    let a = "witness a \(keys[0])\n"
    let b = "witness b \(keys[1])\n"
    #expect(fails(.truncated, 1, ""))
    #expect(fails(.truncated, 2, a))
    #expect(fails(.truncated, 1, "quorum none"))
    #expect(fails(.duplicate, 2, "quorum none\nquorum none\n"))
    #expect(fails(.undefinedName, 1, "quorum a\n" + a))
    #expect(fails(.unexpectedLine, 1, "quorum\n"))
    #expect(fails(.unexpectedLine, 1, "quorum a b\n"))
    #expect(fails(.unexpectedLine, 1, "threshold 3\n"))
    #expect(fails(.controlCharacter, 2, "quorum none\n# \u{7F}\n"))
    #expect(fails(.controlCharacter, 1, "quorum none\r\n"))
    #expect(fails(.duplicate, 2, a + "witness b \(keys[0])\n"))
    #expect(fails(.duplicate, 2, a + "witness a \(keys[1])\n"))
    #expect(fails(.duplicate, 1, "witness none \(keys[1])\n"))
    #expect(fails(.duplicate, 2, "log \(log.verifierKey)\nlog \(log.verifierKey)\n"))
    // The same key under another name is the same log, and the same witness.
    let alias = try signer("example.com/alias", 100).verifierKey
    #expect(fails(.duplicate, 2, "log \(log.verifierKey)\nlog \(alias)\n"))
    #expect(fails(.unsupportedKeyType, 1, "log \(log.cosignatureVerifierKey)\n"))
    #expect(fails(.unsupportedKeyType, 1, "witness a \(witnesses[0].verifierKey)\n"))
    #expect(fails(.unsupportedKeyType, 1, "witness a name+00000000+BgAA\n"))
    #expect(fails(.malformedKey, 1, "witness a b\n"))
    #expect(fails(.unexpectedLine, 1, "witness a\n"))
    #expect(fails(.unexpectedLine, 1, "witness a \(keys[0]) url more\n"))
    #expect(fails(.unexpectedLine, 1, "log\n"))
    #expect(fails(.unexpectedLine, 2, a + "group g any\n"))
    #expect(fails(.malformedNumber, 2, a + "group g 0 a\n"))
    #expect(fails(.malformedNumber, 2, a + "group g 2 a\n"))
    #expect(fails(.malformedNumber, 2, a + "group g 01 a\n"))
    #expect(fails(.malformedNumber, 2, a + "group g some a\n"))
    #expect(fails(.undefinedName, 2, a + "group g any g\n"))
    #expect(fails(.undefinedName, 2, a + "group g any none\n"))
    #expect(fails(.undefinedName, 2, a + "group g any b\n" + b))
    #expect(fails(.duplicate, 2, a + "group g any a a\n"))
    #expect(fails(.duplicate, 3, a + "group g any a\ngroup h any a\n"))
    #expect(fails(.duplicate, 3, a + b + "group a any b\n"))
  }

  @Test func `a checkpoint needs a log of the policy and the quorum`() throws {
    let policy = try parse(example)
    let checkpoint = try Checkpoint(origin: log.name, size: 1, root: .leaf([1]))
    func code(_ signed: SignedCheckpoint, _ policy: WitnessPolicy, logKey: NoteVerifierKey? = nil)
      -> NoteError.Code?
    {
      do throws(NoteError) { _ = try policy.verify(signed, logKey: logKey) } catch { return error.code }
      return nil
    }
    let lines = try witnesses.map { try checkpoint.cosigned(by: $0, timestamp: 1) }
    let signed = try checkpoint.signed(by: log)
    #expect(code(signed, policy) == .quorumNotMet)
    #expect(code(try signed.adding([lines[0], lines[3]]), policy) == .quorumNotMet)
    let enough = try signed.adding([lines[0], lines[2], lines[5]])
    #expect(code(enough, policy) == nil)
    #expect(try policy.verify(enough).cosignatures.map(\.key) == [keys[0], keys[2], keys[5]])
    #expect(try policy.verify(enough).logKey == log.verifierKey)
    // The witnesses alone do not make a log.
    let stranger = try signer("example.com/log", 101)
    #expect(code(try checkpoint.signed(by: stranger).adding(lines), policy) == .notSigned)
    let other = try Checkpoint(origin: "example.com/other", size: 1, root: .leaf([1])).signed(by: log)
    #expect(code(other, policy) == .wrongOrigin)
    // A cosignature of another checkpoint spoils it.
    let larger = try Checkpoint(origin: log.name, size: 2, root: .leaf([1])).cosigned(
      by: witnesses[1], timestamp: 1)
    #expect(code(try enough.adding([larger]), policy) == .invalidSignature)
    // The log may be known from elsewhere.
    let none = try parse("quorum none\n")
    #expect(code(signed, none) == .wrongOrigin)
    #expect(code(signed, none, logKey: log.verifierKey) == nil)
  }

  @Test func `a proof is verified under a policy`() throws {
    let root = TreeHash.node(.leaf([1]), .leaf([2]))
    let checkpoint = try Checkpoint(origin: log.name, size: 2, root: root)
    let lines = try witnesses[..<4].map { try checkpoint.cosigned(by: $0, timestamp: 1) }
    let policy = try parse(example)
    let proof = try LogProof(
      index: 1, inclusionProof: [.leaf([1])], checkpoint: checkpoint.signed(by: log).adding(lines))
    #expect(try proof.verify(entry: [2], policy: policy).checkpoint.cosignatures.count == 4)
    let error = #expect(throws: LogProofError.self) { try proof.verify(entry: [1], policy: policy) }
    guard case .inclusion = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `a policy of many lines is read in time`() throws {
    var text = ""
    for number in 0..<2000 { text += "group g\(number) any g\(number)x\n" }
    #expect(throws: LogFormatError.self) { try parse(text) }
    text = "witness g0 \(keys[0])\n"
    for number in 1...20_000 { text += "group g\(number) any g\(number - 1)\n" }
    let policy = try parse(text + "quorum g20000\n")
    #expect(policy.isSatisfied(by: [keys[0]]))
    #expect(!policy.isSatisfied(by: [keys[1]]))
  }
}
