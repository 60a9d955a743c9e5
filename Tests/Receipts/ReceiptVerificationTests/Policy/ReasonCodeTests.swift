// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// Each reason code, by one receipt that gets it.
@Suite struct ReasonCodeTests {
  private static func verdict(_ code: ReasonCode) async throws -> Verdict {
    let receipts = try Fixture.receipts
    let verifier = try Fixture.verifier()
    let sample = try Fixture.sample(.signedTransaction)
    func flawed(_ flaw: TestAuthority.Flaw) throws -> Verdict {
      verifier.verify(try Fixture.Container.jws.signed(by: Fixture.es256.identity(flaw)))
    }
    func under(_ change: (inout VerificationPolicy) -> Void) throws -> Verdict {
      try Fixture.verifier(change).verify(sample)
    }
    func checked(_ answer: CheckerAnswer) async -> Verdict {
      await verifier.verify(sample, checkers: [FakeChecker(answers: [answer])])
    }
    switch code {
    // libcrypto has to fail for it: see Tests/AllocationSweep.
    case .internalFault: throw CancellationError()
    case .malformed: return verifier.verify([])
    case .unsupportedAlgorithm:
      return verifier.verify(try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"none\"")))
    case .chainLength: return try flawed(.chainOfTwo)
    case .chainUntrusted: return try flawed(.foreignRoot)
    case .chainExpired: return try flawed(.expired)
    case .certificatePurpose: return try flawed(.leafWithoutMarker)
    case .signatureMismatch:
      return verifier.verify(
        try ForgedJWS.replacingSignature(of: sample) { $0.map { $0 ^ 1 } })
    case .unsigned:
      return verifier.verify(try ForgedJWS.replacingSignature(of: sample) { _ in [] })
    case .wrongKind: return try under { $0.kinds = [.appReceipt] }
    case .wrongBundle: return try under { $0.bundleIds = .oneOf(["com.example.other"]) }
    case .wrongApp:
      return try Fixture.verifier { $0.appAppleId = 1 }
        .verify(try Fixture.sample(.signedAppTransaction))
    case .wrongEnvironment: return try under { $0.environments = [.production] }
    case .environmentUnproven:
      return try Fixture.verifier { $0.environments = [.production] }
        .verify(try Fixture.sample(.transactionReceipt))
    case .wrongDevice: return try under { $0.deviceIdentifier = SampleReceipts.deviceIdentifier }
    case .signedInFuture:
      return try Fixture.verifier(at: SampleReceipts.signedAt.addingSeconds(-61)).verify(sample)
    case .tooOld: return try under { $0.maximumAge = 1 }
    case .signingTimeMissing: return verifier.verify(try receipts.signedTransaction { $0.signedDate = nil })
    case .issuerMissing:
      return ReceiptVerifier(trust: try Fixture.rsa.trustAnchors, policy: Fixture.policy())
        .verify(try Fixture.sample(.transactionReceipt))
    case .keyMissing: return verifier.verify(try receipts.googlePlayPurchase())
    case .nestedMismatch:
      let other = try receipts.signedTransaction { $0.originalTransactionId = "1" }
      return verifier.verify(
        try receipts.signedNotification { $0.data?.signedTransactionInfo = other })
    case .notCurrent:
      return try Fixture.verifier { $0.requiresCurrentPurchase = true }
        .verify(try receipts.signedTransaction { $0.revocationDate = $0.purchaseDate })
    case .standingUnknown:
      return try Fixture.verifier { $0.requiresCurrentPurchase = true }
        .verify(try receipts.signedTransaction { $0.purchaseDate = nil })
    case .revoked: return await checked(.response(CheckerResponse(.revoked(at: nil))))
    case .checkerRefused: return await checked(.response(CheckerResponse(.refused(message: ""))))
    case .checkerUnavailable: return await checked(.terminalFailure(message: ""))
    }
  }

  private static let undetermined: Set<ReasonCode> = [
    .environmentUnproven, .signingTimeMissing, .issuerMissing, .keyMissing, .standingUnknown,
    .checkerUnavailable,
  ]

  @Test(
    "each reason code is given, and by the right kind of verdict",
    arguments: ReasonCode.allCases.filter { $0 != .internalFault })
  func eachCode(code: ReasonCode) async throws {
    let verdict = try await Self.verdict(code)
    #expect(verdict.reason?.code == code, "\(verdict.summary)")
    switch verdict {
    case .valid: Issue.record("valid")
    case .invalid: #expect(!Self.undetermined.contains(code))
    case .undetermined: #expect(Self.undetermined.contains(code))
    }
    #expect(verdict.receipt == nil)
    #expect(verdict.reason?.message.isEmpty == ([.checkerRefused, .checkerUnavailable].contains(code)))
  }

  @Test("codes are lower case, hyphenated, and stay what they are")
  func spelling() {
    #expect(
      ReasonCode.allCases.map(\.rawValue) == [
        "malformed", "unsupported-algorithm", "chain-length", "chain-untrusted", "chain-expired",
        "certificate-purpose", "signature-mismatch", "unsigned", "wrong-kind", "wrong-bundle", "wrong-app",
        "wrong-environment", "environment-unproven", "wrong-device", "signed-in-future", "too-old",
        "signing-time-missing", "issuer-missing", "key-missing", "nested-mismatch", "not-current",
        "standing-unknown", "revoked",
        "checker-refused",
        "checker-unavailable", "internal-fault",
      ])
  }
}
