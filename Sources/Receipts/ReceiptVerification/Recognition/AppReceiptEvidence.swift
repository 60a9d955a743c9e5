// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// App receipts: PKCS#7 / CMS SignedData (RFC 5652 section 5).
final class AppReceiptEvidence: Evidence {
  let algorithm: ReceiptAlgorithm
  private let appReceipt: UnverifiedAppReceipt
  private let signerInfo: CMSSignerInfo
  private let limits: ReceiptLimits

  init(_ appReceipt: UnverifiedAppReceipt, limits: ReceiptLimits) throws(ValidationError) {
    guard let signerInfo = appReceipt.signedData.signerInfos.first else {
      throw .invalid(.unsigned, "The PKCS#7 container has no signerInfo: nobody signed it.")
    }
    guard appReceipt.signedData.signerInfos.count == 1 else {
      throw .invalid(
        .malformed, at: "signerInfos",
        "The container has \(appReceipt.signedData.signerInfos.count) signerInfos; a receipt has exactly one."
      )
    }
    self.algorithm = try Self.algorithm(of: signerInfo, in: appReceipt.signedData)
    self.appReceipt = appReceipt
    self.signerInfo = signerInfo
    self.limits = limits
  }

  var format: ReceiptFormat { .appReceipt }
  var signed: SignedContent {
    guard let attributes = signerInfo.signedAttributes else { return .bytes(signedContent, sharedPrefix: 0) }
    return .attributes(attributes, content: signedContent)
  }
  var signature: ArraySlice<UInt8> { signerInfo.signature }
  var cacheKey: SignerCacheKey {
    SignerCacheKey(appReceipt.signedData.certificatesBytes, signerInfo.issuer, signerInfo.serialNumber)
  }
  var receipt: UnverifiedReceipt { .appReceipt(appReceipt) }
  var encoded: [UInt8] { appReceipt.encoded }
  var signedContent: ArraySlice<UInt8> { appReceipt.signedData.content }

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

  /// Names the signer by issuer and serial number, because the order of the embedded certificates has no meaning.
  func signer() throws(ValidationError) -> SignerEvidence {
    guard signerInfo.subjectKeyIdentifier == nil else {
      throw .invalid(
        .malformed, at: "signerInfo",
        "The signer is named by a key identifier; a receipt names it by issuer and serial number.")
    }
    return .certificates(
      CertificateEvidence(
        certificates: appReceipt.signedData.certificates.map { Array($0) },
        leaf: .issuer(signerInfo.issuer, serialNumber: signerInfo.serialNumber), requirements: .appReceipt))
  }

  func decodedContent() throws(MalformedReceipt) -> DecodedContent {
    let payload = try appReceipt.decodePayload(limits: limits)
    var device: DeviceBinding?
    if let opaqueValue = payload.opaqueValue, let hash = payload.sha1Hash {
      device = .sha1Hash(hash, opaqueValue: opaqueValue, bundleId: payload.bundleIdValue)
    }
    return DecodedContent(
      content: .appReceipt(payload),
      claims: Claims(
        kind: .appReceipt, environment: payload.environment, isEnvironmentSigned: true,
        bundleId: payload.bundleId, appAppleId: payload.appAppleId, signedAt: payload.receiptCreationDate,
        device: device))
  }
}
