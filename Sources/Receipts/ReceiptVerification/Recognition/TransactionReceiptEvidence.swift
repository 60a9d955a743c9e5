// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Transaction receipts of iOS 6 and before: an RSA signature over version byte and purchase-info.
final class TransactionReceiptEvidence: Evidence {
  let algorithm: ReceiptAlgorithm
  let signedContent: ArraySlice<UInt8>
  private let transactionReceipt: UnverifiedTransactionReceipt
  private let limits: ReceiptLimits

  init(_ receipt: UnverifiedTransactionReceipt, limits: ReceiptLimits) throws(ValidationError) {
    switch receipt.signatureVersion {
    case 2, 3: algorithm = .rsaSHA1
    case 4: algorithm = .rsaSHA256
    default:
      throw .invalid(
        .unsupportedAlgorithm, at: "key \"signature\"",
        "Signature version \(receipt.signatureVersion) is not known; versions 2, 3 and 4 are.")
    }
    self.transactionReceipt = receipt
    self.signedContent = receipt.signedBytes[...]
    self.limits = limits
  }

  var format: ReceiptFormat { .transactionReceipt }
  var signed: SignedContent { .bytes(signedContent, sharedPrefix: 0) }
  var signature: ArraySlice<UInt8> { transactionReceipt.signature[...] }
  /// The cache key; it includes the version, which determines the acceptable certificates.
  var cacheKey: SignerCacheKey {
    SignerCacheKey([transactionReceipt.signatureVersion], transactionReceipt.leafCertificate[...])
  }
  var receipt: UnverifiedReceipt { .transactionReceipt(transactionReceipt) }
  var encoded: [UInt8] { transactionReceipt.encoded }

  /// Names the embedded leaf as the signer's; the issuer is among the verifier's intermediates.
  func signer() -> SignerEvidence {
    .certificates(
      CertificateEvidence(
        certificates: [transactionReceipt.leafCertificate], leaf: .first,
        requirements: .transactionReceipt(signatureVersion: transactionReceipt.signatureVersion)))
  }

  func decodedContent() throws(MalformedReceipt) -> DecodedContent {
    let purchaseInfo = try transactionReceipt.decodePurchaseInfo(limits: limits)
    return DecodedContent(
      content: .transactionReceipt(purchaseInfo),
      claims: Claims(
        kind: .transactionReceipt, environment: transactionReceipt.claimedEnvironment,
        isEnvironmentSigned: false, bundleId: purchaseInfo.bundleId,
        appAppleId: purchaseInfo.appItemId.flatMap { Int64($0) }, signedAt: purchaseInfo.purchaseDate,
        device: purchaseInfo.uniqueVendorIdentifier.map { .vendorIdentifier($0) }))
  }
}
