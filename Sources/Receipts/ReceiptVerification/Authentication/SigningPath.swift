// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The basis of trust in a signer's key: a path of certificates to a trusted root, or the policy, which names the key.
/// Everything except the time has been checked.
final class SigningPath: Sendable {
  /// The certificates, leaf first. A pinned test certificate is the only element. The array is empty if the policy
  /// names the key.
  let certificates: [Certificate]
  let publicKey: PublicKey
  let assurance: VerifiedReceipt.Assurance
  /// The window in which every certificate of the path is valid, in seconds since 1970, both ends inclusive.
  let notBefore: Int64
  let notAfter: Int64
  let subject: String
  let sha256: String
  let rootSHA256: String?
  let hasSHA1Signature: Bool

  init(_ certificates: [Certificate], leaf: Certificate, assurance: VerifiedReceipt.Assurance) {
    self.certificates = certificates
    self.publicKey = leaf.publicKey
    self.assurance = assurance
    self.notBefore = certificates.map(\.notBefore).max() ?? .max
    self.notAfter = certificates.map(\.notAfter).min() ?? .min
    self.subject = leaf.subject
    self.sha256 = leaf.sha256FingerprintHex
    self.rootSHA256 = (certificates.last ?? leaf).sha256FingerprintHex
    self.hasSHA1Signature = certificates.dropLast().contains {
      Self.sha1SignatureOIDs.contains($0.signatureAlgorithmOID)
    }
  }

  /// Creates the path of a key that the policy names; a key without certificates does not expire.
  init(appKey key: PublicKey, subject: String) {
    certificates = []
    publicKey = key
    assurance = .appKey
    notBefore = .min
    notAfter = .max
    self.subject = subject
    sha256 = key.sha256FingerprintHex
    rootSHA256 = nil
    hasSHA1Signature = false
  }

  /// The basis of the path as diagnostics describe it.
  var origin: String {
    rootSHA256.map { "\"\(subject)\" leads to the trusted root with SHA-256 \($0)" }
      ?? "the policy names the \(subject)"
  }

  /// sha1WithRSAEncryption (RFC 8017) and ecdsa-with-SHA1 (RFC 3279).
  static let sha1SignatureOIDs = [ObjectIdentifiers.sha1WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA1]

  /// Returns `true` if every certificate is valid at the instant. Both bounds are inclusive (RFC 5280 section 4.1.2.5),
  /// and the last second counts as a whole.
  func isValid(at instant: Timestamp) -> Bool {
    let seconds = (instant.millisecondsSince1970 / 1000).rounded(.down)
    return seconds >= Double(notBefore) && seconds <= Double(notAfter)
  }

  /// Returns the first certificate that is not valid at the instant, with its index.
  func invalidCertificate(at instant: Timestamp) -> (index: Int, certificate: Certificate)? {
    let seconds = (instant.millisecondsSince1970 / 1000).rounded(.down)
    for (index, certificate) in certificates.enumerated()
    where seconds < Double(certificate.notBefore) || seconds > Double(certificate.notAfter) {
      return (index, certificate)
    }
    return nil
  }

  func signerInformation(algorithm: ReceiptAlgorithm) -> SignerInformation {
    SignerInformation(
      subject: subject, sha256: sha256, rootSHA256: rootSHA256, algorithm: algorithm,
      involvesSHA1: algorithm == .rsaSHA1 || hasSHA1Signature, certificates: certificates)
  }
}
