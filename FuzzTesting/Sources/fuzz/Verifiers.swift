// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification

/// Identities made anew in each process; nothing in an input depends on their keys.
enum Identities {
  static let p256 = make(.es256)
  static let rsa = make(.rsa2048)

  private static func make(_ algorithm: CertificateAuthority.Algorithm) -> SigningIdentity {
    mustSucceed("no identity") {
      try SigningIdentity.create(
        CertificateAuthority.Options(
          organization: "Fuzzing", algorithm: algorithm, start: Timestamp(millisecondsSince1970: 0),
          days: 36500))
    }
  }
}

enum Verifiers {
  /// Trusts what `SignedReceipts` signs.
  static let own = ReceiptVerifier(
    trust: TrustAnchors(certificates: [Identities.p256, Identities.rsa].compactMap(\.chain.last)),
    policy: VerificationPolicy(bundleIds: .any, environments: Set(ReceiptEnvironment.Category.allCases)),
    intermediates: [Identities.p256, Identities.rsa].map { $0.chain[1] })

  /// Every check on, and every leniency on.
  static let forAnything: [ReceiptVerifier] = {
    var strict = VerificationPolicy(bundleIds: .oneOf(["com.example.app"]), environments: [.production])
    strict.appAppleId = 1
    strict.timeRule = .now
    strict.maximumAge = 3600
    strict.deviceIdentifier = Array(0..<16)
    var lax = VerificationPolicy(bundleIds: .any, environments: Set(ReceiptEnvironment.Category.allCases))
    lax.acceptsClaimedEnvironment = true
    lax.selfSignedTesting = .pinned([SelfSignedTesting.storeKitTestCertificate])
    return [strict, lax].map { ReceiptVerifier(trust: .apple, policy: $0) }
  }()
}
