// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// The verifier accepts everything that the signers make. It refuses everything that a flawed identity signs, for the
/// right reason.
@Suite struct VerificationOfSignedTests {
  private let clock = FixedClock(SampleReceipts.signedAt.addingSeconds(10))

  private func verifier(
    intermediates: Bool = true, _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> ReceiptVerifier {
    let (jws, rsa) = (try TestAuthority.es256(), try TestAuthority.rsa())
    var policy = VerificationPolicy(
      bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.production, .sandbox])
    change(&policy)
    return ReceiptVerifier(
      trust: jws.trustAnchors.union(rsa.trustAnchors), policy: policy,
      intermediates: intermediates ? [rsa.intermediate] : [], clock: clock.reading)
  }

  @Test func everyKindThatIsSignedIsValid() throws {
    let receipts = try TestReceipts()
    let verifier = try verifier()
    let made =
      try ReceiptKind.allCases.filter { !$0.isDetached }.map { ($0, try receipts.receipt(of: $0)) }
      + [(.transactionReceipt, try receipts.transactionReceipt(version: .three))]
    for (kind, bytes) in made {
      let verdict = verifier.verify(bytes)
      #expect(verdict.reason == nil)
      #expect(verdict.receipt?.kind == kind)
      #expect(verdict.receipt?.environment?.category == .sandbox)
      let isRSA = kind == .appReceipt || kind == .transactionReceipt
      let authority = try isRSA ? TestAuthority.rsa() : TestAuthority.es256()
      #expect(verdict.receipt?.signer.rootSHA256 == authority.root.sha256FingerprintHex)
    }
  }

  @Test func transactionsComeOutAsTheyWentIn() throws {
    let receipts = try TestReceipts()
    let verifier = try verifier()
    let expected = SampleReceipts.transaction.transaction
    #expect(verifier.verify(try receipts.signedTransaction()).receipt?.transactions == [expected])
    #expect(verifier.verify(try receipts.signedNotification()).receipt?.transactions == [expected])
    let appReceipt = verifier.verify(try receipts.appReceipt()).receipt
    #expect(Set(appReceipt?.transactions ?? []) == Set(SampleReceipts.appReceipt.transactions))
    let transactionReceipt = verifier.verify(try receipts.transactionReceipt()).receipt
    #expect(transactionReceipt?.transactions == [SampleReceipts.purchaseInfo.transaction])
  }

  @Test func aDeviceBoundReceiptIsOfThatDevice() throws {
    let receipt = try TestReceipts().appReceipt(deviceIdentifier: SampleReceipts.deviceIdentifier)
    let right = try verifier { $0.deviceIdentifier = SampleReceipts.deviceIdentifier }
    #expect(right.verify(receipt).reason == nil)
    let wrong = try verifier { $0.deviceIdentifier = [1, 2, 3, 4, 5, 6] }
    #expect(wrong.verify(receipt).reason?.code == .wrongDevice)
  }

  private static let jwsCodes: [(TestAuthority.Flaw, ReasonCode, String)] = [
    (.leafWithoutMarker, .certificatePurpose, "certificate 0"),
    (.intermediateWithoutMarker, .certificatePurpose, "certificate 1"),
    (.intermediateNotAuthority, .certificatePurpose, "certificate 1"),
    (.leafIsAuthority, .certificatePurpose, "certificate 0"),
    (.leafKeyUsage, .certificatePurpose, "certificate 0"),
    (.expired, .chainExpired, "certificate 0"),
    (.chainOfTwo, .chainLength, "$.x5c of the JWS header"),
    (.chainOfFour, .chainLength, "$.x5c of the JWS header"),
    (.foreignRoot, .chainUntrusted, "certificate 2"),
    (.forgedUnderGenuineRoot, .chainUntrusted, "certificate 1"),
  ]

  @Test(arguments: jwsCodes)
  func aFlawedIdentityIsRefusedInAJWS(flaw: TestAuthority.Flaw, code: ReasonCode, place: String) throws {
    let identity = try TestAuthority.es256().identity(flaw)
    let receipts = try TestReceipts(jws: identity, rsa: TestAuthority.rsa().identity)
    let verdict = try verifier().verify(receipts.signedTransaction())
    #expect(verdict.reason?.code == code)
    #expect(verdict.reason?.place == place)
    #expect(verdict.receipt == nil)
  }

  private static let appReceiptCodes: [(TestAuthority.Flaw, ReasonCode, String)] = [
    (.leafWithoutMarker, .certificatePurpose, "certificate 0"),
    (.intermediateWithoutMarker, .certificatePurpose, "certificate 1"),
    (.intermediateNotAuthority, .certificatePurpose, "certificate 1"),
    (.leafIsAuthority, .certificatePurpose, "certificate 0"),
    (.leafKeyUsage, .certificatePurpose, "certificate 0"),
    (.expired, .chainExpired, "certificate 0"),
    (.chainOfTwo, .chainLength, "certificate 0"),
    (.chainOfFour, .chainLength, "certificate 1"),
    (.foreignRoot, .chainUntrusted, "certificate 1"),
    (.forgedUnderGenuineRoot, .chainUntrusted, "certificate 1"),
  ]

  @Test(arguments: appReceiptCodes)
  func aFlawedIdentityIsRefusedInAnAppReceipt(
    flaw: TestAuthority.Flaw, code: ReasonCode, place: String
  ) throws {
    let identity = try TestAuthority.rsa().identity(flaw)
    let receipts = try TestReceipts(jws: TestAuthority.es256().identity, rsa: identity)
    let verdict = try verifier(intermediates: false).verify(receipts.appReceipt())
    #expect(verdict.reason?.code == code)
    #expect(verdict.reason?.place == place)
    #expect(verdict.receipt == nil)
  }

  @Test func selfSignedTestDataIsAdmittedByPinAlone() throws {
    let xcode = try SelfSignedTestData()
    var transaction = SampleReceipts.transaction
    transaction.environment = .xcode
    let jws = try xcode.sign(.transaction(transaction))
    let pinned = try verifier {
      $0.environments = [.xcode]
      $0.selfSignedTesting = .pinned(certificates: [xcode.certificate])
    }
    #expect(pinned.verify(jws).receipt?.assurance == .pinnedTestCertificate)
    let unpinned = try verifier { $0.environments = [.xcode] }
    #expect(unpinned.verify(jws).reason?.code == .chainLength)
  }

  @Test func theFakeCheckerAnswersInOrderAndRemembers() async throws {
    let checker = FakeChecker(answers: [
      .retryableFailure(message: "busy"), .response(.init(.revoked(at: nil))),
      .response(.init(.confirmed)),
    ])
    let receipt = Array(try TestReceipts().signedTransaction().utf8)
    let verifier = try verifier()
    let first = await verifier.verify(receipt, checkers: [checker])
    #expect(first.reason?.code == .checkerUnavailable)
    let second = await verifier.verify(receipt, checkers: [checker])
    #expect(second.reason?.code == .revoked)
    for _ in 0..<2 {
      let last = await verifier.verify(receipt, checkers: [checker])
      #expect(last.reason == nil)
    }
    #expect(checker.checked.count == 4)
    #expect(checker.checked.first?.transactions.first?.transactionId == "2000000001")
    let mute = FakeChecker(name: "mute", answers: [])
    let verdict = await verifier.verify(receipt, checkers: [mute])
    #expect(verdict.reason?.code == .checkerUnavailable)
  }

  @Test func theFixedClockStandsStillUntilItIsMoved() throws {
    let verifier = try verifier { $0.maximumAge = 60 }
    let receipt = try TestReceipts().signedTransaction()
    #expect(verifier.verify(receipt).reason == nil)
    clock.advance(seconds: 50)
    #expect(verifier.verify(receipt).reason == nil)
    clock.advance(seconds: 1)
    #expect(verifier.verify(receipt).reason?.code == .tooOld)
    clock.now = SampleReceipts.signedAt.addingSeconds(-61)
    #expect(verifier.verify(receipt).reason?.code == .signedInFuture)
  }

  @Test func theTestAuthoritiesAreTheSameEverywhere() throws {
    #expect(
      try TestAuthority.es256().root.sha256FingerprintHex
        == "2038101dce370e066505a8e011288f8c60304e88902ba676e739211970ae472d")
    #expect(
      try TestAuthority.rsa().root.sha256FingerprintHex
        == "4396fe4c6ca5304ace05d7c01d52c6b9e612b46ecb080388c1ed6adc3c377aeb")
  }
}
