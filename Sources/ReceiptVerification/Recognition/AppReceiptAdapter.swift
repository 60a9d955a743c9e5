// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// App receipts: PKCS#7 / CMS SignedData (RFC 5652 section 5).
enum AppReceiptAdapter {
  static func evidence(
    in receipt: UnverifiedAppReceipt, limits: ReceiptLimits
  ) throws(ValidationError) -> Evidence {
    let signedData = receipt.signedData
    guard let signerInfo = signedData.signerInfos.first else {
      throw .invalid(.unsigned, "The PKCS#7 container has no signerInfo: nobody signed it.")
    }
    guard signedData.signerInfos.count == 1 else {
      throw .invalid(
        .malformed, at: "signerInfos",
        "The container has \(signedData.signerInfos.count) signerInfos; a receipt has exactly one.")
    }
    let signed: SignedContent =
      if let attributes = signerInfo.signedAttributes {
        .attributes(attributes, content: signedData.content)
      } else {
        .bytes(signedData.content, sharedPrefix: 0)
      }
    return Evidence(
      format: .appReceipt, algorithm: try algorithm(of: signerInfo, in: signedData), signed: signed,
      signature: signerInfo.signature,
      cacheKey: SignerCacheKey(signedData.certificatesBytes, signerInfo.issuer, signerInfo.serialNumber),
      signer: { () throws(ValidationError) in try signer(signerInfo, in: signedData) },
      content: { () throws(MalformedReceipt) in content(try receipt.decodePayload(limits: limits)) },
      receipt: .appReceipt(receipt))
  }

  /// Digest and signature algorithm must name the same digest.
  private static func algorithm(
    of signerInfo: CMSSignerInfo, in signedData: CMSSignedData
  ) throws(ValidationError) -> ReceiptAlgorithm {
    let algorithm: ReceiptAlgorithm
    let withDigest: String
    switch signerInfo.digestAlgorithm {
    case "1.3.14.3.2.26": (algorithm, withDigest) = (.rsaSHA1, "1.2.840.113549.1.1.5")
    case "2.16.840.1.101.3.4.2.1": (algorithm, withDigest) = (.rsaSHA256, "1.2.840.113549.1.1.11")
    default:
      throw .invalid(
        .unsupportedAlgorithm, at: "signerInfo",
        "The digest algorithm \(signerInfo.digestAlgorithm) is not one of app receipts: SHA-1 or SHA-256.")
    }
    guard [CMSSignedData.rsaEncryption, withDigest].contains(signerInfo.signatureAlgorithm) else {
      throw .invalid(
        .unsupportedAlgorithm, at: "signerInfo",
        "The signature algorithm \(signerInfo.signatureAlgorithm) is not RSA with the digest that the "
          + "signerInfo names.")
    }
    guard signedData.digestAlgorithms.contains(signerInfo.digestAlgorithm) else {
      throw .invalid(
        .malformed, at: "digestAlgorithms",
        "The container does not announce the signer's digest algorithm \(signerInfo.digestAlgorithm).")
    }
    return algorithm
  }

  /// The order of the embedded certificates means nothing.
  private static func signer(
    _ signerInfo: CMSSignerInfo, in signedData: CMSSignedData
  ) throws(ValidationError) -> SignerEvidence {
    guard signerInfo.subjectKeyIdentifier == nil else {
      throw .invalid(
        .malformed, at: "signerInfo",
        "The signer is named by a key identifier; a receipt names it by issuer and serial number.")
    }
    return SignerEvidence(
      certificates: signedData.certificates.map { Array($0) },
      leaf: .issuer(signerInfo.issuer, serialNumber: signerInfo.serialNumber), requirements: .appReceipt)
  }

  private static func content(_ payload: AppReceiptPayload) -> DecodedContent {
    var device: DeviceBinding?
    if let opaqueValue = payload.opaqueValue, let hash = payload.sha1Hash {
      device = .sha1Hash(hash, opaqueValue: opaqueValue, bundleId: payload.bundleIdValue)
    }
    return DecodedContent(
      content: .appReceipt(payload),
      claims: Claims(
        kind: .appReceipt, environment: payload.environment, isEnvironmentSigned: true,
        bundleId: payload.bundleId, appAppleId: payload.appAppleId, signedAt: payload.receiptCreationDate,
        device: device),
      summary: "it has \(payload.inAppPurchases.count) in-app purchase(s)")
  }
}
