// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Transaction receipts of iOS 6 and before: an RSA signature over version byte and purchase-info.
extension SignedMessage {
  convenience init(_ receipt: UnverifiedTransactionReceipt, limits: ReceiptLimits) throws(ValidationError) {
    let algorithm: ReceiptAlgorithm
    switch receipt.signatureVersion {
    case 2, 3: algorithm = .rsaSHA1
    case 4: algorithm = .rsaSHA256
    default:
      throw .invalid(
        .unsupportedAlgorithm, at: "key \"signature\"",
        "Signature version \(receipt.signatureVersion) is not known; versions 2, 3 and 4 are.")
    }
    self.init(
      .transactionReceipt(receipt), algorithm: algorithm,
      signed: .bytes(receipt.signedBytes[...], sharedPrefix: 0), signature: receipt.signature[...],
      // The version determines the acceptable certificates.
      cacheKey: SignerCacheKey([receipt.signatureVersion], receipt.leafCertificate[...]),
      keySource: .leaf(receipt.leafCertificate, signatureVersion: receipt.signatureVersion), limits: limits)
  }
}

extension DecodedContent {
  /// Creates the content of a transaction receipt, whose environment is not signed.
  init(_ purchaseInfo: TransactionReceiptPurchaseInfo, claiming environment: ReceiptEnvironment) {
    self.init(
      content: .transactionReceipt(purchaseInfo),
      claims: Claims(
        kind: .transactionReceipt, environment: environment, isEnvironmentSigned: false,
        bundleId: purchaseInfo.bundleId, appAppleId: purchaseInfo.appItemId.flatMap { Int64($0) },
        signedAt: purchaseInfo.purchaseDate,
        device: purchaseInfo.uniqueVendorIdentifier.map { .vendorIdentifier($0) }))
  }
}
