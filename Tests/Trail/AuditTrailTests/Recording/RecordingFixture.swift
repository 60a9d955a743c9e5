// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification

/// A verifier of the sample receipts, and what is recorded of its verdicts.
enum RecordingFixture {
  static let now = SampleReceipts.signedAt.addingSeconds(10)

  static func policy(_ change: (inout VerificationPolicy) -> Void = { _ in }) -> VerificationPolicy {
    var policy = VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox])
    policy.appKeys = (try? TestReceipts.appKeys()) ?? []
    change(&policy)
    return policy
  }

  static func verifier(_ change: (inout VerificationPolicy) -> Void = { _ in }) throws -> ReceiptVerifier {
    let (es256, rsa) = (try TestAuthority.es256(), try TestAuthority.rsa())
    return ReceiptVerifier(
      trust: es256.trustAnchors.union(rsa.trustAnchors), policy: policy(change),
      intermediates: [rsa.intermediate], clock: FixedClock(now).reading)
  }

  static func records(
    _ receipt: [UInt8], answers: [CheckerAnswer] = [], options: RecordingOptions = RecordingOptions(),
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) async throws -> [AuditRecord] {
    let verifier = try verifier(change)
    let checkers = answers.enumerated().map { FakeChecker(name: "checker \($0)", answers: [$1]) }
    let verdict = await verifier.verify(receipt, checkers: checkers)
    return [AuditRecord](verdict, receipt: receipt, policy: verifier.policy, at: now, options: options)
  }
}
