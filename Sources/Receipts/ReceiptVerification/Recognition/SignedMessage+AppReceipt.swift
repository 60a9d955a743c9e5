// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// App receipts: PKCS#7 / CMS SignedData (RFC 5652 section 5).
extension SignedMessage {
  convenience init(_ receipt: UnverifiedAppReceipt, limits: ReceiptLimits) throws(ValidationError) {
    let signedData = receipt.signedData
    guard let signerInfo = signedData.signerInfos.first else {
      throw .invalid(.unsigned, "The PKCS#7 container has no signerInfo: nobody signed it.")
    }
    guard signedData.signerInfos.count == 1 else {
      throw .invalid(
        .malformed, at: "signerInfos",
        "The container has \(signedData.signerInfos.count) signerInfos; a receipt has exactly one.")
    }
    let algorithm = try Self.algorithm(of: signerInfo, in: signedData)
    let signed: SignedContent =
      if let attributes = signerInfo.signedAttributes {
        .attributes(attributes, content: signedData.content)
      } else {
        .bytes(signedData.content, sharedPrefix: 0)
      }
    // The order of the embedded certificates has no meaning.
    let keySource: KeySource =
      signerInfo.subjectKeyIdentifier == nil
      ? .certificates(
        signedData.certificates, issuer: signerInfo.issuer, serialNumber: signerInfo.serialNumber)
      : .keyIdentifier
    self.init(
      .appReceipt(receipt), algorithm: algorithm, signed: signed, signature: signerInfo.signature,
      cacheKey: SignerCacheKey(signedData.certificatesBytes, signerInfo.issuer, signerInfo.serialNumber),
      keySource: keySource, limits: limits)
  }

  /// Returns the algorithm; the digest algorithm and the signature algorithm must name the same digest.
  private static func algorithm(
    of signerInfo: CMSSignerInfo, in signedData: CMSSignedData
  ) throws(ValidationError) -> ReceiptAlgorithm {
    let algorithm: ReceiptAlgorithm
    let withDigest: String
    switch signerInfo.digestAlgorithm {
    case ObjectIdentifiers.sha1: (algorithm, withDigest) = (.rsaSHA1, ObjectIdentifiers.sha1WithRSAEncryption)
    case ObjectIdentifiers.sha256:
      (algorithm, withDigest) = (.rsaSHA256, ObjectIdentifiers.sha256WithRSAEncryption)
    default:
      throw .invalid(
        .unsupportedAlgorithm, at: "signerInfo",
        "The digest algorithm \(signerInfo.digestAlgorithm) is not one of app receipts: SHA-1 or SHA-256.")
    }
    guard [ObjectIdentifiers.rsaEncryption, withDigest].contains(signerInfo.signatureAlgorithm) else {
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
}

extension DecodedContent {
  init(_ payload: AppReceiptPayload) {
    var device: DeviceBinding?
    if let opaqueValue = payload.opaqueValue, let hash = payload.sha1Hash {
      device = .sha1Hash(hash, opaqueValue: opaqueValue, bundleId: payload.bundleIdValue)
    }
    self.init(
      content: .appReceipt(payload),
      claims: Claims(
        kind: .appReceipt, environment: payload.environment, isEnvironmentSigned: true,
        bundleId: payload.bundleId, appAppleId: payload.appAppleId, signedAt: payload.receiptCreationDate,
        device: device))
  }
}
