// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptCrypto
public import ReceiptSigning
public import ReceiptVerification

/// Creates signed receipts of every kind for tests, from sample contents or your own.
///
/// ```swift
/// let receipts = try TestReceipts()
/// let jws = try receipts.signedTransaction { $0.productId = "com.example.app.yearly" }
/// ```
public struct TestReceipts: Sendable {
  private let jws: JWSSigner
  private let appReceipts: AppReceiptSigner
  private let transactionReceipts: TransactionReceiptSigner
  private let detached: AppKeySigner

  /// Signs with the two test authorities.
  public init() throws(SigningError) {
    try self.init(jws: TestAuthority.es256().identity, rsa: TestAuthority.rsa().identity)
  }

  /// Signs with these identities.
  ///
  /// - Throws: `SigningError` with `unsuitable-key` if the RSA key does not have 2048 bits.
  package init(jws: SigningIdentity, rsa: SigningIdentity) throws(SigningError) {
    // Unchecked, because identities with flawed chains must be able to sign.
    self.jws = JWSSigner(
      unchecked: jws, header: JWSHeader(x5c: jws.chain.map(\.der)).encoded())
    self.appReceipts = AppReceiptSigner(unchecked: rsa)
    self.transactionReceipts = try TransactionReceiptSigner(identity: rsa)
    self.detached = try AppKeySigner(identity: SigningIdentity(appKey: TestKeys.app()))
  }

  /// The keys that a policy needs to accept ``googlePlayPurchase(_:)``, and the other purchases of stores
  /// without certificates.
  public static func appKeys() throws(SigningError) -> AppKeys {
    let key = try TestKeys.app().publicKey
    return AppKeys(
      PurchaseStore.allCases.map { AppKey($0, package: SampleReceipts.bundleId, publicKey: key) })
  }

  /// The sample receipt of a kind, as bytes.
  public func receipt(of kind: ReceiptKind) throws(SigningError) -> [UInt8] {
    switch kind {
    case .signedTransaction: Array(try signedTransaction().utf8)
    case .signedRenewalInfo: Array(try signedRenewalInfo().utf8)
    case .signedAppTransaction: Array(try signedAppTransaction().utf8)
    case .signedNotification: Array(try signedNotification().utf8)
    case .signedRealtimeRequest: Array(try signedRealtimeRequest().utf8)
    case .appReceipt: try appReceipt()
    case .transactionReceipt: try transactionReceipt()
    case .googlePlayPurchase: try googlePlayPurchase()
    case .googlePlayLicense: try googlePlayLicense()
    case .huaweiPurchase: try huaweiPurchase()
    }
  }

  /// A signed transaction.
  public func signedTransaction(
    _ change: (inout JWSTransaction) -> Void = { _ in }
  ) throws(SigningError) -> String {
    try jws.sign(.transaction(SampleReceipts.transaction.with(change)))
  }

  package func signedRenewalInfo(
    _ change: (inout JWSRenewalInfo) -> Void = { _ in }
  ) throws(SigningError) -> String {
    try jws.sign(.renewalInfo(SampleReceipts.renewalInfo.with(change)))
  }

  package func signedAppTransaction(
    _ change: (inout AppTransaction) -> Void = { _ in }
  ) throws(SigningError) -> String {
    try jws.sign(.appTransaction(SampleReceipts.appTransaction.with(change)))
  }

  /// A signed notification. It contains a signed transaction and signed renewal information, which can both be
  /// changed.
  public func signedNotification(
    _ change: (inout Notification) -> Void = { _ in }
  ) throws(SigningError) -> String {
    var notification = SampleReceipts.notification
    notification.data?.signedTransactionInfo = try signedTransaction()
    notification.data?.signedRenewalInfo = try signedRenewalInfo()
    change(&notification)
    return try jws.sign(.notification(notification))
  }

  package func signedRealtimeRequest(
    _ change: (inout RealtimeRequest) -> Void = { _ in }
  ) throws(SigningError) -> String {
    try jws.sign(.realtimeRequest(SampleReceipts.realtimeRequest.with(change)))
  }

  /// An app receipt in DER, bound to a device if its identifier is given.
  public func appReceipt(
    deviceIdentifier: [UInt8]? = nil, _ change: (inout AppReceiptPayload) -> Void = { _ in }
  ) throws(SigningError) -> [UInt8] {
    try appReceipts.sign(SampleReceipts.appReceipt.with(change), deviceIdentifier: deviceIdentifier)
  }

  /// The property list of a transaction receipt. Verifiers need the authority's intermediate.
  package func transactionReceipt(
    version: TransactionReceiptSigner.SignatureVersion = .four, environment: ReceiptEnvironment = .sandbox,
    _ change: (inout TransactionReceiptPurchaseInfo) -> Void = { _ in }
  ) throws(SigningError) -> [UInt8] {
    try transactionReceipts.sign(
      SampleReceipts.purchaseInfo.with(change), version: version, environment: environment)
  }

  /// A purchase at Google Play: JSON with data and signature. Its policy needs ``appKeys()``.
  public func googlePlayPurchase(
    _ change: (inout GooglePlayPurchase) -> Void = { _ in }
  ) throws(SigningError) -> [UInt8] {
    try detached.sign(.googlePlayPurchase(SampleReceipts.googlePlayPurchase.with(change)))
  }

  /// A response of Google Play's licensing. Its policy needs ``appKeys()``.
  package func googlePlayLicense() throws(SigningError) -> [UInt8] {
    try detached.sign(.googlePlayLicense(SampleReceipts.googlePlayLicense))
  }

  /// A purchase at Huawei AppGallery. Its policy needs ``appKeys()``.
  package func huaweiPurchase(
    usesPSS: Bool = false, _ change: (inout HuaweiPurchase) -> Void = { _ in }
  ) throws(SigningError) -> [UInt8] {
    try detached.sign(.huaweiPurchase(SampleReceipts.huaweiPurchase.with(change)), usesPSS: usesPSS)
  }
}
