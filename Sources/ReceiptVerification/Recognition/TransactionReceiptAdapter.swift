// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Transaction receipts of iOS 6 and before: an RSA signature over version byte and purchase-info.
enum TransactionReceiptAdapter {
  static func evidence(
    in receipt: UnverifiedTransactionReceipt, limits: ReceiptLimits
  ) throws(ValidationError) -> Evidence {
    let algorithm: ReceiptAlgorithm
    switch receipt.signatureVersion {
    case 2, 3: algorithm = .rsaSHA1
    case 4: algorithm = .rsaSHA256
    default:
      throw .invalid(
        .unsupportedAlgorithm, at: "key \"signature\"",
        "Signature version \(receipt.signatureVersion) is not known; versions 2, 3 and 4 are.")
    }
    // A transaction receipt embeds no more than its leaf: the issuer is among the verifier's intermediates. The
    // version decides which certificates are acceptable, so it is part of the cache key.
    return Evidence(
      format: .transactionReceipt, algorithm: algorithm,
      signed: .bytes(receipt.signedBytes[...], sharedPrefix: 0), signature: receipt.signature[...],
      cacheKey: SignerCacheKey([receipt.signatureVersion], receipt.leafCertificate[...]),
      signer: {
        SignerEvidence(
          certificates: [receipt.leafCertificate], leaf: .first,
          requirements: .transactionReceipt(signatureVersion: receipt.signatureVersion))
      },
      content: { () throws(MalformedReceipt) in
        content(
          try receipt.decodePurchaseInfo(limits: limits), claimedEnvironment: receipt.claimedEnvironment)
      },
      receipt: .transactionReceipt(receipt))
  }

  private static func content(
    _ purchaseInfo: TransactionReceiptPurchaseInfo, claimedEnvironment: ReceiptEnvironment
  ) -> DecodedContent {
    DecodedContent(
      content: .transactionReceipt(purchaseInfo),
      claims: Claims(
        kind: .transactionReceipt, environment: claimedEnvironment, isEnvironmentSigned: false,
        bundleId: purchaseInfo.bundleId, appAppleId: purchaseInfo.appItemId.flatMap { Int64($0) },
        signedAt: purchaseInfo.purchaseDate,
        device: purchaseInfo.uniqueVendorIdentifier.map { .vendorIdentifier($0) }),
      summary: "it is a purchase of \(purchaseInfo.productId ?? "")")
  }
}
