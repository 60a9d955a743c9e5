// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// Transaction receipts of iOS 6 and before: an RSA signature over version byte and purchase-info.
extension ReceiptVerifier {
  func verifyTransactionReceipt(_ receipt: UnverifiedTransactionReceipt) throws(Objection) -> VerifiedReceipt
  {
    guard policy.kinds.contains(.transactionReceipt) else {
      throw .invalid(.wrongKind, "The policy does not accept a transaction receipt.")
    }
    let algorithm: ReceiptAlgorithm
    switch receipt.signatureVersion {
    case 2, 3: algorithm = .rsaSHA1
    case 4: algorithm = .rsaSHA256
    default:
      throw .invalid(
        .unsupportedAlgorithm, at: "key \"signature\"",
        "Signature version \(receipt.signatureVersion) is not known; versions 2, 3 and 4 are.")
    }
    try demandAlgorithm(algorithm)
    // The version decides which certificates are in order, so it is part of what is remembered.
    let carrier = [receipt.signatureVersion] + receipt.leafCertificate
    let known = knownSigners.signer(carriedBy: carrier.span)
    let chains: [SigningChain]
    if let known {
      explain(.chain, passed: true, "known signer \"\(known.chains.first?.subject ?? "")\"")
      chains = known.chains
    } else {
      chains = try transactionReceiptSigner(of: receipt)
    }
    guard
      let key = chains.first?.publicKey,
      key.isValidSignature(
        receipt.signature.span, for: receipt.signedBytes.span,
        using: .rsaPKCS1v15(algorithm == .rsaSHA1 ? .sha1 : .sha256))
    else {
      throw .invalid(
        .signatureMismatch, at: "key \"signature\"",
        "The \(algorithm.rawValue) signature does not match purchase-info: a byte of it or of the signature "
          + "was changed, or another key signed.")
    }
    explain(.signature, passed: true, "\(algorithm.rawValue) signature matches purchase-info")
    if known == nil { knownSigners.remember(KnownSigner(carrier: carrier, chains: chains)) }

    let purchaseInfo: TransactionReceiptPurchaseInfo
    do throws(MalformedReceipt) {
      purchaseInfo = try receipt.decodePurchaseInfo(limits: limits)
      explain(.content, passed: true, "it is a purchase of \(purchaseInfo.productId ?? "")")
    } catch {
      explain(.content, passed: false, error.description)
      throw .malformed(error)
    }
    let claims = Claims(
      kind: .transactionReceipt, environment: receipt.claimedEnvironment, bundleId: purchaseInfo.bundleId,
      appAppleId: purchaseInfo.appItemId.flatMap { Int64($0) },
      signedAt: purchaseInfo.purchaseDate, isNested: false)
    let chain = try judge(claims, chains: chains)
    try demandDevice(of: purchaseInfo)
    let verified = VerifiedReceipt(
      content: .transactionReceipt(purchaseInfo), kind: .transactionReceipt,
      environment: receipt.claimedEnvironment, isEnvironmentProven: false, bundleId: claims.bundleId,
      appAppleId: claims.appAppleId, signedAt: claims.signedAt,
      signer: chain.signerInformation(algorithm: algorithm), assurance: chain.assurance, nested: [],
      source: VerifiedReceipt.Source(.transactionReceipt(receipt)))
    try judgeEnvironment(of: verified)
    return verified
  }

  /// A transaction receipt embeds no more than its leaf: the issuer is among the caller's intermediates. Two
  /// of them may share name and key; which one counts is decided by the time rule.
  private func transactionReceiptSigner(
    of receipt: UnverifiedTransactionReceipt
  ) throws(Objection) -> [SigningChain] {
    guard let leaf = try parseCertificates([receipt.leafCertificate]).first else {
      throw .invalid(.chainLength, "The receipt embeds no certificate.")
    }
    try demandRSA(leaf, atLeast: receipt.signatureVersion == 2 ? 1024 : 2048)
    let foreign: CertificateMarkers = receipt.signatureVersion == 2 ? .appStore : .iTunesStore
    return try signingChains(
      SigningChainBuilder(
        trust: trust, markers: policy.markers.subtracting([foreign]), acceptsSHA1: true, isComplete: false),
      leaf: leaf, intermediates: intermediates, roots: intermediates)
  }
}
