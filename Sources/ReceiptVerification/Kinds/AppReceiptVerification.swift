// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// App receipts: PKCS#7 / CMS SignedData (RFC 5652 section 5).
extension ReceiptVerifier {
  func verifyAppReceipt(_ receipt: UnverifiedAppReceipt) throws(Objection) -> VerifiedReceipt {
    let signedData = receipt.signedData
    guard policy.kinds.contains(.appReceipt) else {
      throw .invalid(.wrongKind, "The policy does not accept an app receipt.")
    }
    guard let signerInfo = signedData.signerInfos.first else {
      throw .invalid(.unsigned, "The PKCS#7 container has no signerInfo: nobody signed it.")
    }
    guard signedData.signerInfos.count == 1 else {
      throw .invalid(
        .malformed, at: "signerInfos",
        "The container has \(signedData.signerInfos.count) signerInfos; a receipt has exactly one.")
    }
    let algorithm = try signatureAlgorithm(of: signerInfo, in: signedData)
    try demandAlgorithm(algorithm)
    let carrier = carrier(of: signerInfo, in: signedData)
    let known = knownSigners.signer(carriedBy: carrier.span)
    let chains: [SigningChain]
    if let known {
      explain(.chain, passed: true, "known signer \"\(known.chains.first?.subject ?? "")\"")
      chains = known.chains
    } else {
      chains = try appReceiptSigner(of: signerInfo, in: signedData)
    }
    guard let key = chains.first?.publicKey else {
      throw .invalid(.chainUntrusted, "No path leads from the signer to a trusted root.")
    }
    try checkSignature(of: signerInfo, over: signedData.content, key: key, algorithm: algorithm)
    if known == nil { knownSigners.remember(KnownSigner(carrier: carrier, chains: chains)) }

    let payload: AppReceiptPayload
    do throws(MalformedReceipt) {
      payload = try receipt.decodePayload(limits: limits)
      explain(.content, passed: true, "it has \(payload.inAppPurchases.count) in-app purchase(s)")
    } catch {
      explain(.content, passed: false, error.description)
      throw .malformed(error)
    }
    let claims = Claims(
      kind: .appReceipt, environment: payload.environment, bundleId: payload.bundleId,
      appAppleId: payload.appAppleId, signedAt: payload.receiptCreationDate,
      isNested: false)
    let chain = try judge(claims, chains: chains)
    try demandDevice(of: payload)
    let verified = VerifiedReceipt(
      content: .appReceipt(payload), kind: .appReceipt, environment: payload.environment,
      isEnvironmentProven: payload.environment != nil, bundleId: payload.bundleId,
      appAppleId: payload.appAppleId, signedAt: payload.receiptCreationDate,
      signer: chain.signerInformation(algorithm: algorithm), assurance: chain.assurance, nested: [],
      source: VerifiedReceipt.Source(.appReceipt(receipt)))
    try judgeEnvironment(of: verified)
    return verified
  }

  /// Which of the two algorithms of app receipts: digest and signature algorithm must name the same digest.
  private func signatureAlgorithm(
    of signerInfo: CMSSignerInfo, in signedData: CMSSignedData
  ) throws(Objection) -> ReceiptAlgorithm {
    let rsaEncryption = "1.2.840.113549.1.1.1"
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
    guard [rsaEncryption, withDigest].contains(signerInfo.signatureAlgorithm) else {
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

  /// The signer, matched by issuer and serial number; the order of the embedded certificates means nothing.
  private func appReceiptSigner(
    of signerInfo: CMSSignerInfo, in signedData: CMSSignedData
  ) throws(Objection) -> [SigningChain] {
    guard signerInfo.subjectKeyIdentifier == nil else {
      throw .invalid(
        .malformed, at: "signerInfo",
        "The signer is named by a key identifier; a receipt names it by issuer and serial number.")
    }
    let certificates = try parseCertificates(signedData.certificates.map { Array($0) })
    let signers = certificates.filter {
      $0.issuerDER[...] == signerInfo.issuer && $0.serialNumber[...] == signerInfo.serialNumber
    }
    guard let leaf = signers.first, signers.count == 1 else {
      throw .invalid(
        .chainUntrusted, at: "signerInfo",
        "\(signers.count) of the embedded certificates have the signer's issuer and serial number; "
          + "exactly one must.")
    }
    try demandRSA(leaf, atLeast: 2048)
    if policy.selfSignedTesting.admits(leaf) {
      return [SigningChain([leaf], leaf: leaf, assurance: .pinnedTestCertificate)]
    }
    let others = certificates.filter { $0 != leaf }
    return try signingChains(
      SigningChainBuilder(
        trust: trust, markers: policy.markers.subtracting([.iTunesStore]), acceptsSHA1: true,
        isComplete: false),
      leaf: leaf, intermediates: others + intermediates, roots: others)
  }

  /// What the signer is remembered by: all of the receipt that decides who it is. The lengths say where one
  /// part ends and the next begins.
  private func carrier(of signerInfo: CMSSignerInfo, in signedData: CMSSignedData) -> [UInt8] {
    var carrier: [UInt8] = []
    carrier.reserveCapacity(
      signedData.certificatesBytes.count + signerInfo.issuer.count + signerInfo.serialNumber.count + 16)
    carrier.append(contentsOf: signedData.certificatesBytes)
    carrier.append(contentsOf: signerInfo.issuer)
    carrier.append(contentsOf: signerInfo.serialNumber)
    for count in [signerInfo.issuer.count, signerInfo.serialNumber.count] {
      for shift in stride(from: 0, to: 64, by: 8) {
        carrier.append(UInt8(truncatingIfNeeded: count >> shift))
      }
    }
    return carrier
  }

  /// RFC 5652 section 5.4. Without signed attributes the signature covers the content; with them it covers
  /// the attributes, which must name the content's type and digest. The two readings never mix.
  private func checkSignature(
    of signerInfo: CMSSignerInfo, over content: ArraySlice<UInt8>, key: PublicKey,
    algorithm: ReceiptAlgorithm
  ) throws(Objection) {
    let digest: DigestAlgorithm = algorithm == .rsaSHA1 ? .sha1 : .sha256
    let matches: Bool
    if let attributes = signerInfo.signedAttributes {
      let data = "1.2.840.113549.1.7.1"
      guard attributes.contentType == data, let messageDigest = attributes.messageDigest else {
        throw .invalid(
          .malformed, at: "signedAttrs",
          "Signed attributes must name the content type (data) and the message digest (RFC 5652 5.3).")
      }
      guard ConstantTime.equals(messageDigest, Digest.hash(content.span, using: digest)) else {
        throw .invalid(
          .signatureMismatch, at: "signedAttrs",
          "The message digest in the signed attributes is not that of the content: the content was changed.")
      }
      matches = key.isValidSignature(
        signerInfo.signature.span, for: attributes.encoded.span, using: .rsaPKCS1v15(digest))
    } else {
      matches = key.isValidSignature(
        signerInfo.signature.span, for: content.span, using: .rsaPKCS1v15(digest))
    }
    guard matches else {
      throw .invalid(
        .signatureMismatch, at: "signerInfo",
        "The \(algorithm.rawValue) signature does not match the content: a byte of it or of the signature "
          + "was changed, or another key signed.")
    }
    explain(.signature, passed: true, "\(algorithm.rawValue) signature matches the content")
  }
}
