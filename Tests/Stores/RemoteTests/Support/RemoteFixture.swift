// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptHTTP
import ReceiptTesting
import ReceiptVerification
import Testing

/// Verified receipts for checkers, and verifiers that trust their signers.
enum RemoteFixture {
  static let now = SampleReceipts.signedAt.addingSeconds(10)

  static func verifier(
    _ environments: Set<ReceiptEnvironment.Category> = [.production, .sandbox],
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> ReceiptVerifier {
    var policy = VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: environments)
    policy.appKeys = try TestReceipts.appKeys()
    change(&policy)
    let es256 = try TestAuthority.es256()
    let rsa = try TestAuthority.rsa()
    return ReceiptVerifier(
      trust: es256.trustAnchors.union(rsa.trustAnchors), policy: policy,
      intermediates: [rsa.intermediate],
      clock: FixedClock(now).reading)
  }

  static func encoded(_ kind: ReceiptKind) throws -> [UInt8] { try TestReceipts().receipt(of: kind) }

  static func verified(_ kind: ReceiptKind) throws -> VerifiedReceipt {
    try #require(try verifier().verify(encoded(kind)).receipt)
  }

  static func url(_ text: String) throws -> RemoteURL { try RemoteURL(text) }
}

extension CheckerAnswer {
  /// The same answer without the standings of single purchases.
  var withoutStandings: CheckerAnswer {
    guard case .response(var response) = self else { return self }
    response.purchases = []
    return .response(response)
  }
}
