// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
internal import ReceiptCrypto

/// The claimed signer of a receipt or of a signed part.
package struct ClaimedSigner: Sendable {
  /// The reason that there is no signer: a word and an explanation.
  package struct Problem: Sendable, Hashable {
    /// The word, such as NOT SIGNED.
    package let word: String
    /// The text after the word.
    package let explanation: String
  }

  /// The signed part; `nil` for the receipt itself.
  package let part: String?
  /// The signer's name, or the owner of the key.
  package let name: String?
  /// The signature algorithm.
  package let algorithm: String?
  /// The signing time that the receipt states.
  package let signedDate: Timestamp?
  /// The embedded certificates, in DER.
  let certificates: [[UInt8]]
  package private(set) var problem: Problem?
  /// The certificates from the signer's to the topmost issuer.
  package let chain: CertificateChain
  /// `true` if the receipt or an earlier part has the same signer, which then need not be shown again.
  package internal(set) var isRepeated = false

  /// Returns `true` if both signers have the same certificates and algorithm, and no problem.
  func isSame(as other: ClaimedSigner) -> Bool {
    certificates == other.certificates && algorithm == other.algorithm && problem == nil
      && other.problem == nil
  }

  init(_ jws: UnverifiedJWS, part: String? = nil) {
    self.part = part
    signedDate = (try? jws.decoded().content)?.signedDate
    var header: JWSHeader?
    do throws(MalformedReceipt) {
      header = try jws.header()
    } catch {
      problem = Problem(word: "MALFORMED", explanation: " header: \(error)")
    }
    certificates = header?.x5c ?? []
    algorithm = header?.alg
    let chain = CertificateChain(
      certificates.map { CertificateChain.Offered(der: $0) }, signer: certificates.isEmpty ? nil : 0)
    self.chain = chain
    name = chain.signer?.subject ?? header?.kid.map { "the key \($0)" } ?? "nobody: there is no certificate"
    if jws.signature.isEmpty {
      problem = Problem(word: "NOT SIGNED", explanation: ": the signature is empty")
    }
  }

  /// Returns the first signers of an app receipt; the App Store writes one.
  static func all(of receipt: UnverifiedAppReceipt) -> [ClaimedSigner] {
    let infos = receipt.signedData.signerInfos.prefix(CertificateChain.maximumCount)
    let date = (try? receipt.decoded().content)?.receiptCreationDate
    let encoded = receipt.signedData.certificates.map { Array($0) }
    let offered = encoded.map { CertificateChain.Offered(der: $0) }
    let all = infos.map { ClaimedSigner($0, encoded, offered, date) }
    return all.isEmpty ? [ClaimedSigner(nil, encoded, offered, date)] : all
  }

  private init(
    _ info: CMSSignerInfo?, _ encoded: [[UInt8]], _ offered: [CertificateChain.Offered], _ date: Timestamp?
  ) {
    part = nil
    signedDate = date
    let index = info.flatMap { info in
      offered.firstIndex { offered in
        guard let certificate = offered.certificate else { return false }
        if let identifier = info.subjectKeyIdentifier {
          return certificate.subjectKeyIdentifier == Array(identifier)
        }
        return certificate.issuerDER == Array(info.issuer)
          && certificate.serialNumber == Array(info.serialNumber)
      }
    }
    certificates = encoded
    let chain = CertificateChain(offered, signer: index)
    self.chain = chain
    name = chain.signer?.subject ?? info.map { _ in "a certificate that does not come along" }
    algorithm = info.map { info in
      [info.signatureAlgorithm, info.digestAlgorithm].map { ObjectIdentifiers.names[$0] ?? $0 }
        .joined(separator: " with ")
    }
    if info == nil { problem = Problem(word: "NOT SIGNED", explanation: ": there is no signature") }
  }

  init(_ receipt: UnverifiedTransactionReceipt) {
    part = nil
    certificates = [receipt.leafCertificate]
    chain = CertificateChain([CertificateChain.Offered(der: receipt.leafCertificate)], signer: 0)
    name = chain.signer?.subject
    algorithm =
      "\(receipt.signatureVersion == 4 ? "SHA-256" : "SHA-1") with RSA (version \(receipt.signatureVersion))"
    signedDate = nil
  }

  init(_ receipt: UnverifiedDetachedReceipt) {
    part = nil
    certificates = []
    chain = CertificateChain([], signer: nil)
    let content = try? receipt.decoded().unsafelyAssumeAuthentic()
    let store =
      content?.store
      ?? (DetachedContent.claimedKind(of: receipt.signedBytes) == .huaweiPurchase ? .huawei : .googlePlay)
    name = "\(store.displayName), with its key of the app, which does not come along"
    algorithm = receipt.statedAlgorithm ?? "\(store.defaultAlgorithm.rawValue) (not stated)"
    signedDate = nil
    if receipt.signature.isEmpty {
      problem = Problem(word: "NOT SIGNED", explanation: ": the signature is empty")
    }
  }
}
