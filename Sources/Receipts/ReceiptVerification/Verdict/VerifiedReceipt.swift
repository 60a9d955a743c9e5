// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptCrypto

/// A receipt whose signature, certificates and policy were checked. Only a verifier can make one.
public struct VerifiedReceipt: Sendable, Hashable {
  /// The typed content, exactly what the signature covers.
  public enum Content: Sendable, Hashable {
    /// A JWS of any kind.
    case jws(JWSPayload)
    /// An app receipt.
    case appReceipt(AppReceiptPayload)
    /// A transaction receipt of iOS 6 and before.
    case transactionReceipt(TransactionReceiptPurchaseInfo)
    /// A purchase or licence of Google Play or Huawei AppGallery, which comes with its signature beside it.
    case detached(DetachedContent)
  }

  /// What the verdict rests on.
  public enum Assurance: String, Sendable, Hashable {
    /// A path of checked signatures to a trusted root.
    case trustedRoot = "trusted-root"
    /// A pinned self-signed certificate of Xcode or a unit test, admitted by name. It proves no purchase.
    case pinnedTestCertificate = "pinned-test-certificate"
    /// A key without certificates, which the policy names for the app.
    case appKey = "app-key"
  }

  /// The content.
  public let content: Content
  /// The kind.
  public let kind: ReceiptKind
  /// The environment; `nil` if the receipt states none.
  public private(set) var environment: ReceiptEnvironment?
  /// Whether ``environment`` is more than a claim: the signature covers it, or a checker found the purchase in
  /// it. The signature of a transaction receipt does not; and an environment that is absent is not proven.
  public private(set) var isEnvironmentProven: Bool
  /// The app's bundle identifier, or package name, where the kind has one.
  public let bundleId: String?
  /// The app's App Store identifier, where the kind has one.
  public let appAppleId: Int64?
  /// When it was signed: `signedDate`, `receiptCreationDate`, attribute 12, or the purchase date of a
  /// transaction receipt or of one of another store; for a notification without one, the latest of its signed parts.
  public let signedAt: Timestamp?
  /// When the receipt itself expires: attribute 21 of an app receipt from the volume purchase programme. `nil` for one
  /// that does not. The subscriptions in a receipt have dates of their own (``transactions``).
  public var expirationDate: Timestamp? {
    guard case .appReceipt(let payload) = content else { return nil }
    return payload.expirationDate
  }
  /// Who signed it.
  public let signer: SignerInformation
  /// What the verdict rests on.
  public let assurance: Assurance
  /// The verified parts inside a notification, in the order transaction, renewal info, app transaction.
  public let nested: [VerifiedReceipt]
  /// The receipt as it was verified, without its wrapping: the compact JWS, the DER or BER of an app receipt,
  /// the property list of a transaction receipt, the JSON object of data and signature. Two receipts that say the same are equal whatever their bytes.
  public var encoded: [UInt8] { source.bytes }
  /// What the receipt is recognized by, however it is spelled: 32 bytes, SHA-256 of what was signed.
  ///
  /// - JWS: the signing input, `header.payload` in ASCII (RFC 7515 section 5.1). The signature is left out: from an
  ///   ECDSA signature (r, s) anybody can compute (r, n − s), which is valid too.
  /// - App receipt: the value octets of `eContent` without tag and length, the segments of BER put together (RFC 5652
  ///   section 5.4). Everything else of the container can be encoded in other ways.
  /// - Transaction receipt: the signature version, one byte, and the decoded `purchase-info`.
  /// - Google Play and Huawei: the data beside the signature.
  ///
  /// ``encoded`` may differ between receipts of the same identity.
  public var identity: [UInt8] { Digest.hash(signedContent.span, using: .sha256) }
  /// The bytes that ``identity`` is the digest of.
  package var signedContent: ArraySlice<UInt8> { source.signedContent }
  let source: Source
  /// What remote checkers said, in the order asked; empty if none was asked.
  public internal(set) var checks: [CheckerReport] = []

  /// The receipt of content that was authenticated and accepted.
  init(
    _ content: AuthenticatedContent, claims: Claims, signedBy path: SigningPath, nested: [VerifiedReceipt]
  ) {
    self.content = content.decoded.content
    kind = claims.kind
    environment = claims.environment
    isEnvironmentProven = claims.isEnvironmentSigned && claims.environment != nil
    bundleId = claims.bundleId
    appAppleId = claims.appAppleId
    signedAt = claims.signedAt
    signer = path.signerInformation(algorithm: content.evidence.algorithm)
    assurance = path.assurance
    self.nested = nested
    source = Source(content.evidence)
  }

  /// The same receipt, its environment determined by a source that found the purchase there. A spelling that
  /// means that environment is kept.
  func determining(_ category: ReceiptEnvironment.Category) -> VerifiedReceipt {
    var receipt = self
    if environment?.category != category { receipt.environment = ReceiptEnvironment(category) }
    receipt.isEnvironmentProven = true
    return receipt
  }

  /// Bytes that take no part in comparisons: an unsigned byte of a container may differ.
  struct Source: Sendable, Hashable {
    let bytes: [UInt8]
    let signedContent: ArraySlice<UInt8>

    init(_ evidence: any Evidence) {
      bytes = evidence.encoded
      signedContent = evidence.signedContent
    }

    static func == (left: Source, right: Source) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// The purchases, in the terms that all kinds share. For a notification those of its signed transaction. One
  /// that a checker says was revoked since bears that date, whatever the receipt says. A purchase of Google Play or
  /// Huawei that was not paid for when it was signed is in ``content`` alone.
  public var transactions: [Transaction] {
    let revoked = checks.flatMap(\.revokedTransactions)
    guard !revoked.isEmpty else { return signedTransactions }
    return signedTransactions.map { transaction in
      guard let found = revoked.first(where: { $0.transactionId == transaction.transactionId }) else {
        return transaction
      }
      var transaction = transaction
      transaction.revocationDate = found.revocationDate
      return transaction
    }
  }

  private var signedTransactions: [Transaction] {
    switch content {
    case .jws(.notification): nested.first { $0.kind == .signedTransaction }?.transactions ?? []
    case .jws(let payload): payload.transactions
    case .appReceipt(let payload): payload.transactions
    case .transactionReceipt(let purchaseInfo): [purchaseInfo.transaction]
    case .detached(let content): content.transactions
    }
  }
}

extension ReceiptEnvironment {
  /// The plain spelling of an environment.
  fileprivate init(_ category: Category) {
    self =
      switch category {
      case .production: .production
      case .sandbox: .sandbox
      case .xcode: .xcode
      case .localTesting: .localTesting
      }
  }
}
