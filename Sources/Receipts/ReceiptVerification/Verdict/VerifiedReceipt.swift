// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptCrypto

/// A receipt whose signature, certificates and policy were checked; only a verifier can create one.
public struct VerifiedReceipt: Sendable, Hashable {
  /// The typed content, exactly as the signature covers it.
  public enum Content: Sendable, Hashable {
    /// A JWS of any kind.
    case jws(JWSPayload)
    /// An app receipt.
    case appReceipt(AppReceiptPayload)
    /// A transaction receipt of iOS 6 and before.
    case transactionReceipt(TransactionReceiptPurchaseInfo)
    /// A purchase or licence of Google Play or Huawei AppGallery, with a detached signature.
    case detached(DetachedContent)
  }

  /// The content.
  public let content: Content
  /// The kind.
  public let kind: ReceiptKind
  /// The environment; `nil` if the receipt states none.
  public private(set) var environment: ReceiptEnvironment?
  /// `true` if the signature covers ``environment``, or if a checker found the purchase in it.
  ///
  /// The signature of a transaction receipt does not cover the environment. An environment that is absent is not
  /// proven.
  public private(set) var isEnvironmentProven: Bool
  /// The app's bundle identifier or package name; `nil` if the kind has none.
  public let bundleId: String?
  /// The app's App Store identifier; `nil` if the kind has none.
  public let appAppleId: Int64?
  /// The signing time.
  ///
  /// It is `signedDate`, `receiptCreationDate` or attribute 12; for a transaction receipt or a receipt of another
  /// store, the purchase date. For a notification without a signing time, it is the latest of its signed parts.
  public let signedAt: Timestamp?
  /// The time at which the receipt itself expires; `nil` if it does not.
  ///
  /// It is attribute 21 of an app receipt from the volume purchase programme. The subscriptions in a receipt have dates
  /// of their own (``purchases``).
  public var expirationDate: Timestamp? {
    guard case .appReceipt(let payload) = content else { return nil }
    return payload.expirationDate
  }
  /// The signer.
  public let signer: SignerInformation
  /// The basis of the verdict.
  public let assurance: Assurance
  /// The verified parts inside a notification, in the order transaction, renewal info, app transaction.
  public let nested: [VerifiedReceipt]
  /// The verified receipt, without its wrapping. It is the compact JWS, the DER or BER of an app receipt, the property
  /// list of a transaction receipt, or the JSON object of data and signature. It takes no part in comparisons: two
  /// receipts with equal content are equal even if their bytes differ.
  package var encoded: [UInt8] { source.bytes }
  /// The identity of the receipt, independent of its encoding: the SHA-256, 32 bytes, of the signed content.
  ///
  /// - JWS: the signing input, `header.payload` in ASCII (RFC 7515 section 5.1). The signature is excluded: from an
  ///   ECDSA signature (r, s) anyone can compute (r, n − s), which is valid too.
  /// - App receipt: the value octets of `eContent` without tag and length, with BER segments concatenated (RFC 5652
  ///   section 5.4). Everything else in the container can be encoded in other ways.
  /// - Transaction receipt: the signature version, one byte, and the decoded `purchase-info`.
  /// - Google Play and Huawei: the signed data, without the signature.
  ///
  /// The bytes may differ between receipts with the same identity.
  public var identity: [UInt8] { Digest.hash(signedContent.span, using: .sha256) }
  /// The bytes whose digest is ``identity``.
  package var signedContent: ArraySlice<UInt8> { source.signedContent }
  let source: Source
  /// The answers of remote checkers, in the order asked; empty if none was asked.
  public internal(set) var checks: [CheckerReport] = []

  /// Creates the receipt from content that was authenticated and accepted.
  init(
    _ content: AuthenticatedContent, claims: Claims, signedBy path: SigningPath, nested: [VerifiedReceipt]
  ) {
    let message = content.proven.message
    self.content = content.decoded.content
    kind = claims.kind
    environment = claims.environment
    isEnvironmentProven = claims.isEnvironmentSigned && claims.environment != nil
    bundleId = claims.bundleId
    appAppleId = claims.appAppleId
    signedAt = claims.signedAt
    signer = path.signerInformation(algorithm: message.algorithm)
    assurance = path.assurance
    self.nested = nested
    source = Source(bytes: message.receipt.encoded, signedContent: message.signed.content)
  }

  /// Returns the same receipt with its environment determined by a source that found the purchase there. The receipt's
  /// own spelling of that environment is kept.
  func determining(_ category: ReceiptEnvironment.Category) -> VerifiedReceipt {
    var receipt = self
    if environment?.category != category { receipt.environment = ReceiptEnvironment(category) }
    receipt.isEnvironmentProven = true
    return receipt
  }

  /// The source bytes, which take no part in comparisons because unsigned bytes of a container may differ.
  struct Source: Sendable, Hashable {
    let bytes: [UInt8]
    let signedContent: ArraySlice<UInt8>

    static func == (left: Source, right: Source) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
  }

  /// The transactions, in terms that all kinds share, whether they stand or not: see ``purchases``.
  ///
  /// For a notification, they are those of its signed transaction. If a checker reports that a purchase was revoked,
  /// the revocation date is the checker's, even if the receipt states another. A purchase of Google Play or Huawei that
  /// was not paid for when it was signed is only in ``content``.
  package var transactions: [Transaction] {
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
  /// Creates an environment with the usual spelling.
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

extension SignerInformation: Hashable {
  /// Returns `true` if leaf, root and algorithm are the same.
  ///
  /// Intermediates are not compared: a store may have several with the same name and key, and the choice among them
  /// does not change the signer.
  public static func == (left: SignerInformation, right: SignerInformation) -> Bool {
    left.sha256 == right.sha256 && left.rootSHA256 == right.rootSHA256 && left.algorithm == right.algorithm
      && left.involvesSHA1 == right.involvesSHA1
  }

  /// Hashes the leaf's fingerprint and the algorithm.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sha256)
    hasher.combine(algorithm)
  }
}
