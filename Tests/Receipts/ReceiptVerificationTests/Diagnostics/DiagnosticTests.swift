// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Synchronization
import Testing

/// The texts of the diagnostics callback and of descriptions.
@Suite struct DiagnosticTests {
  private final class Recorder: Sendable {
    private let recorded = Mutex<[VerificationDiagnostic]>([])
    var diagnostics: [VerificationDiagnostic] { recorded.withLock { $0 } }
    func record(_ diagnostic: VerificationDiagnostic) { recorded.withLock { $0.append(diagnostic) } }
  }

  private func explaining(
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> (ReceiptVerifier, Recorder) {
    let recorder = Recorder()
    let verifier = ReceiptVerifier(
      trust: try Fixture.es256.trustAnchors.union(try Fixture.rsa.trustAnchors),
      policy: Fixture.policy(change), intermediates: [try Fixture.rsa.intermediate],
      clock: FixedClock(Fixture.now).reading, diagnostics: { recorder.record($0) })
    return (verifier, recorder)
  }

  @Test("a valid receipt is explained step by step, cold and warm", arguments: Fixture.appStoreKinds)
  func steps(kind: ReceiptKind) throws {
    let (verifier, recorder) = try explaining()
    for _ in 0..<2 {
      let before = recorder.diagnostics.count
      expectValid(verifier.verify(try Fixture.sample(kind)))
      let diagnostics = recorder.diagnostics[before...]
      #expect(diagnostics.allSatisfy { $0.passed })
      #expect(diagnostics.allSatisfy { !$0.message.isEmpty })
      let steps = Set(diagnostics.map(\.step))
      #expect(
        steps == [.recognition, .chain, .signature, .content, .time, .policy, .verdict], "\(steps)")
      #expect(diagnostics.first?.step == .recognition)
      #expect(diagnostics.last?.step == .verdict)
    }
  }

  @Test("the explanation of a refusal ends with the verdict and its reason")
  func refusal() throws {
    let (verifier, recorder) = try explaining { $0.bundleIds = .oneOf([]) }
    let verdict = verifier.verify(try Fixture.sample(.signedTransaction))
    let last = try #require(recorder.diagnostics.last)
    #expect(last.step == .verdict)
    #expect(!last.passed)
    #expect(last.message == verdict.reason?.description)
  }

  @Test("data that is not a receipt fails at recognition, and undecodable content at decoding")
  func failingSteps() throws {
    let (verifier, recorder) = try explaining()
    _ = verifier.verify([])
    #expect(recorder.diagnostics.map(\.step) == [.recognition, .verdict])
    #expect(recorder.diagnostics.allSatisfy { !$0.passed })
    let receipt = try ForgedJWS.signed(
      header: ForgedJWS.header("\"alg\":\"ES256\""), payload: Array("{}".utf8))
    _ = verifier.verify(receipt)
    let failed = recorder.diagnostics.dropFirst(2).filter { !$0.passed }
    #expect(failed.map(\.step) == [.content, .verdict])
  }

  @Test("checkers are explained, and the verdict after them")
  func checkers() async throws {
    let (verifier, recorder) = try explaining()
    let checker = FakeChecker(
      name: "store",
      answers: [
        .response(CheckerResponse(.confirmed)), .response(CheckerResponse(.revoked(at: nil))),
      ])
    let sample = try Fixture.sample(.signedTransaction)
    expectValid(await verifier.verify(sample, checkers: [checker]))
    #expect(recorder.diagnostics.suffix(2).map(\.step) == [.checker, .verdict])
    #expect(recorder.diagnostics.suffix(2).map(\.passed) == [true, true])
    let verdict = await verifier.verify(sample, checkers: [checker])
    #expect(recorder.diagnostics.suffix(2).map(\.step) == [.checker, .verdict])
    #expect(recorder.diagnostics.suffix(2).map(\.passed) == [false, false])
    #expect(recorder.diagnostics.last?.message == verdict.reason?.description)
  }

  @Test("descriptions say code, message and place in one line")
  func descriptions() throws {
    let verdict = try Fixture.verifier().verify(
      try ForgedJWS.replacingSignature(of: Fixture.sample(.signedTransaction)) { _ in [1] })
    let reason = try #require(verdict.reason)
    #expect(reason.description == "signature-mismatch: \(reason.message) (JWS signature)")
    let unplaced = try #require(
      try Fixture.verifier { $0.kinds = [] }.verify(try Fixture.sample(.appReceipt)).reason)
    #expect(unplaced.place == "")
    #expect(unplaced.description == "wrong-kind: \(unplaced.message)")
    let (verifier, recorder) = try explaining()
    _ = verifier.verify([])
    let diagnostic = try #require(recorder.diagnostics.first)
    #expect(diagnostic.description == "recognition: failed: \(diagnostic.message)")
  }

  @Test("a verdict states the kind of receipt, if it is known")
  func kinds() throws {
    for kind in Fixture.appStoreKinds {
      let sample = try Fixture.sample(kind)
      #expect(try Fixture.verifier().verify(sample).kind == kind)
      // The chain is refused before the payload is decoded; what it claims is told all the same.
      let untrusting = ReceiptVerifier(trust: TrustAnchors(), policy: Fixture.policy())
      #expect(untrusting.verify(sample).kind == kind)
      #expect(try Fixture.verifier { $0.environments = [] }.verify(sample).kind == kind)
    }
    #expect(try Fixture.verifier().verify([]).kind == nil)
  }

  @Test("messages quote no more than a line of what the receipt says")
  func quotedContent() throws {
    let long = String(repeating: "x", count: 100_000)
    let receipts = try Fixture.receipts
    for receipt in [
      try receipts.signedTransaction { $0.bundleId = long },
      try receipts.signedTransaction { $0.environment = ReceiptEnvironment(rawValue: long) },
      String(
        decoding: try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"\(long)\"")), as: UTF8.self),
    ] {
      let reason = try #require(try Fixture.verifier().verify(receipt).reason)
      #expect(reason.message.unicodeScalars.count <= 801, "\(reason.code)")
    }
    let escape = try receipts.signedTransaction { $0.bundleId = "\u{1B}[2J\nforged line\u{202E}" }
    let reason = try #require(try Fixture.verifier().verify(escape).reason)
    #expect(reason.message.contains("\u{FFFD}[2J\u{FFFD}forged line\u{FFFD}"))
    var list = PropertyList(entries: [PropertyList.Entry(key: long, value: "")])
    list.entries.append(list.entries[0])
    let twice = try #require(try Fixture.verifier().verify(list.encoded()).reason)
    #expect(twice.code == .malformed && twice.place.unicodeScalars.count <= 801)
  }
}
