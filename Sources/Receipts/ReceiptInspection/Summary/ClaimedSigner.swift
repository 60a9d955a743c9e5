// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

extension ClaimedSigner {
  /// Returns `true` if both signers have the same certificates and algorithm, and no problem.
  func isSame(as other: ClaimedSigner) -> Bool {
    certificates == other.certificates && algorithm == other.algorithm && problem == nil
      && other.problem == nil
  }

  init(_ jws: UnverifiedJWS, part: String? = nil) {
    var header: JWSHeader?
    var problem: Problem?
    do throws(MalformedReceipt) {
      header = try jws.header()
    } catch {
      problem = Problem(word: "MALFORMED", explanation: " header: \(error)")
    }
    let certificates = header?.x5c ?? []
    let chain = CertificateChain(
      CertificateChain.offered(certificates), signer: certificates.isEmpty ? nil : 0)
    self.init(
      part: part,
      name: chain.signer?.subject ?? header?.kid.map { "the key \($0)" } ?? "nobody: there is no certificate",
      algorithm: header?.alg, signedDate: (try? jws.decoded().content)?.signedDate,
      certificates: certificates, problem: jws.signature.isEmpty ? Self.emptySignature : problem,
      chain: chain)
  }

  /// Returns the first signers of an app receipt; the App Store writes one.
  static func all(of receipt: UnverifiedAppReceipt) -> [ClaimedSigner] {
    let date = (try? receipt.decoded().content)?.receiptCreationDate
    let encoded = receipt.signedData.certificates.map { Array($0) }
    let offered = CertificateChain.offered(encoded)
    guard !receipt.signedData.signerInfos.isEmpty else {
      return [
        ClaimedSigner(
          name: nil, algorithm: nil, signedDate: date, certificates: encoded,
          problem: Problem(word: "NOT SIGNED", explanation: ": there is no signature"),
          chain: CertificateChain(offered, signer: nil))
      ]
    }
    return receipt.signedData.signerInfos.prefix(CertificateChain.maximumCount).map { info in
      let chain = CertificateChain(
        offered, signer: offered.firstIndex { (try? $0.get()).map(info.identifies) ?? false })
      return ClaimedSigner(
        name: chain.signer?.subject ?? "a certificate that does not come along",
        algorithm: [info.signatureAlgorithm, info.digestAlgorithm].map { ObjectIdentifiers.names[$0] ?? $0 }
          .joined(separator: " with "),
        signedDate: date, certificates: encoded, chain: chain)
    }
  }

  init(_ receipt: UnverifiedTransactionReceipt) {
    let certificates = [receipt.leafCertificate]
    let chain = CertificateChain(CertificateChain.offered(certificates), signer: 0)
    let hash = receipt.signatureVersion == 4 ? "SHA-256" : "SHA-1"
    self.init(
      name: chain.signer?.subject, algorithm: "\(hash) with RSA (version \(receipt.signatureVersion))",
      certificates: certificates, chain: chain)
  }

  init(_ receipt: UnverifiedDetachedReceipt) {
    let content = try? receipt.decoded().unsafelyAssumeAuthentic()
    let store =
      content?.store
      ?? (DetachedContent.claimedKind(of: receipt.signedBytes) == .huaweiPurchase ? .huawei : .googlePlay)
    self.init(
      name: "\(store.displayName), with its key of the app, which does not come along",
      algorithm: receipt.statedAlgorithm ?? "\(store.defaultAlgorithm.rawValue) (not stated)",
      problem: receipt.signature.isEmpty ? Self.emptySignature : nil,
      chain: CertificateChain([], signer: nil))
  }

  private static let emptySignature = Problem(
    word: "NOT SIGNED", explanation: ": the signature is empty")
}

extension CMSSignerInfo {
  /// Returns `true` if the signer names the certificate.
  fileprivate func identifies(_ certificate: Certificate) -> Bool {
    if let subjectKeyIdentifier { return certificate.subjectKeyIdentifier == Array(subjectKeyIdentifier) }
    return certificate.issuerDER == Array(issuer) && certificate.serialNumber == Array(serialNumber)
  }
}
