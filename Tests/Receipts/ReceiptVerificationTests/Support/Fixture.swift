// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification

/// The test authorities, what they sign, and verifiers that trust them.
enum Fixture {
  /// Ten seconds after the sample receipts were signed.
  static let now = SampleReceipts.signedAt.addingSeconds(10)

  static var es256: TestAuthority { get throws { try TestAuthority.es256() } }
  static var rsa: TestAuthority { get throws { try TestAuthority.rsa() } }
  static var receipts: TestReceipts { get throws { try TestReceipts() } }

  /// The policy under which every sample receipt is valid, changed as a test wants it.
  static func policy(_ change: (inout VerificationPolicy) -> Void = { _ in }) -> VerificationPolicy {
    var policy = VerificationPolicy(
      bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox])
    change(&policy)
    return policy
  }

  static func verifier(
    limits: ReceiptLimits = .standard, at now: Timestamp = now,
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> ReceiptVerifier {
    ReceiptVerifier(
      trust: try es256.trustAnchors.union(try rsa.trustAnchors), policy: policy(change),
      intermediates: [try rsa.intermediate], limits: limits, clock: FixedClock(now).reading)
  }

  /// The kinds that are signed with certificates, as the App Store signs them.
  static let appStoreKinds = ReceiptKind.allCases.filter { !$0.isDetached }
  /// The kinds that are signed with the key of an app.
  static let detachedKinds = ReceiptKind.allCases.filter(\.isDetached)

  /// A verifier that accepts the samples of every kind: Google Play states no environment.
  static func verifierOfAllStores(
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) throws -> ReceiptVerifier {
    let keys = try TestReceipts.appKeys()
    return try verifier {
      $0.appKeys = keys
      $0.environments = [.production, .sandbox]
      change(&$0)
    }
  }

  /// One valid receipt of a kind.
  static func sample(_ kind: ReceiptKind) throws -> [UInt8] { try receipts.receipt(of: kind) }

  /// The three containers, which have their own verification each.
  enum Container: String, CaseIterable, Sendable {
    case jws, appReceipt, transactionReceipt

    /// The sample as the given identity would sign it, for identities of the right kind of key.
    func signed(by identity: SigningIdentity) throws -> [UInt8] {
      switch self {
      case .jws:
        let signer = JWSSigner(
          unchecked: identity, header: JWSHeader(x5c: identity.chain.map(\.der)).encoded())
        return Array(try signer.sign(.transaction(SampleReceipts.transaction)).utf8)
      case .appReceipt:
        return try AppReceiptSigner(unchecked: identity).sign(SampleReceipts.appReceipt)
      case .transactionReceipt:
        return try TransactionReceiptSigner(identity: identity)
          .sign(SampleReceipts.purchaseInfo, environment: .sandbox)
      }
    }

    var authority: TestAuthority {
      get throws { self == .jws ? try Fixture.es256 : try Fixture.rsa }
    }
  }
}
