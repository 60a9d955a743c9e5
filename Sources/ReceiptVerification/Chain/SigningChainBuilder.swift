// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Finds the paths leaf → intermediate → trusted root (RFC 5280 section 6). Time is not judged here: a path is
/// found once and judged for every receipt that it signs.
struct SigningChainBuilder {
  let trust: TrustAnchors
  let markers: Set<CertificateMarkers>
  /// Whether the kind of receipt was ever signed under certificates that are signed with SHA-1.
  let acceptsSHA1: Bool
  /// Whether the receipt must embed the whole path, so that a missing issuer is a fault of the receipt.
  let isComplete: Bool

  /// Why no path was found.
  enum Failure: Error {
    case refused(Reason)
    /// Nothing at hand bears the name of the leaf's issuer, though it sounds like one of ours.
    case issuerMissing(Reason)
  }

  /// Certificates of one name that are tried at most; more is an attempt to make us work.
  private static let maximumCandidates = 8

  /// All paths from the leaf to a trusted root, through one of `intermediates`, which may have issued it;
  /// `roots` came along and may be trusted roots.
  func chains(
    leaf: Certificate, intermediates: [Certificate], roots: [Certificate]
  ) throws(Failure) -> [SigningChain] {
    let trustedRoots = trust.certificates + roots.filter { trust.contains($0) }
    if trust.contains(leaf) || trustedRoots.contains(where: { $0.subjectDER == leaf.issuerDER }) {
      throw .refused(
        Reason(
          .chainLength, at: "certificate 0",
          "The root itself issued the signer's certificate; a path is leaf, intermediate, root."))
    }
    let issuers = intermediates.filter { $0.subjectDER == leaf.issuerDER && $0 != leaf }
    guard !issuers.isEmpty else { throw missingIssuer(of: leaf, trustedRoots: trustedRoots) }

    var found: [SigningChain] = []
    var firstRefusal: Reason?
    for intermediate in issuers.prefix(Self.maximumCandidates) {
      do throws(Failure) {
        found.append(
          try chain(
            leaf: leaf, intermediate: intermediate, trustedRoots: trustedRoots, others: intermediates))
      } catch {
        if case .refused(let reason) = error, firstRefusal == nil { firstRefusal = reason }
      }
    }
    guard found.isEmpty else { return found }
    throw .refused(firstRefusal ?? untrusted(leaf))
  }

  private func chain(
    leaf: Certificate, intermediate: Certificate, trustedRoots: [Certificate], others: [Certificate]
  ) throws(Failure) -> SigningChain {
    let candidates = trustedRoots.filter { $0.subjectDER == intermediate.issuerDER && $0 != intermediate }
    guard !candidates.isEmpty else {
      let isDeeper = others.contains {
        $0 != intermediate && $0 != leaf && $0.subjectDER == intermediate.issuerDER && !$0.isSelfIssued
      }
      throw .refused(
        isDeeper
          ? Reason(
            .chainLength, at: "certificate 1",
            "The path has more than three certificates; it must be leaf, intermediate, root.")
          : untrusted(intermediate, at: "certificate 1"))
    }
    var refusal = untrusted(intermediate, at: "certificate 1")
    for root in candidates.prefix(Self.maximumCandidates) {
      guard
        let failure = CertificationPath.failure(
          leaf: leaf, intermediates: [intermediate], anchor: root, at: nil)
      else {
        try checkAlgorithms(of: [leaf, intermediate])
        try checkPurposes(leaf: leaf, intermediate: intermediate)
        return SigningChain([leaf, intermediate, root], leaf: leaf, assurance: .trustedRoot)
      }
      refusal = reason(for: failure)
    }
    throw .refused(refusal)
  }

  /// What issuers sign certificates with. The root is trusted as it is, whatever it signed itself with.
  private func checkAlgorithms(of certificates: [Certificate]) throws(Failure) {
    for (index, certificate) in certificates.enumerated() {
      let algorithm = certificate.signatureAlgorithmOID
      let isAccepted =
        Self.strongAlgorithms.contains(algorithm)
        || acceptsSHA1 && SigningChain.sha1SignatureOIDs.contains(algorithm)
      guard isAccepted else {
        throw .refused(
          Reason(
            .unsupportedAlgorithm, at: "certificate \(index)",
            "\"\(certificate.subject)\" is signed with the algorithm \(algorithm), which is not accepted "
              + "under this kind of receipt."))
      }
    }
  }

  /// RSA PKCS#1 v1.5 and ECDSA with SHA-256, SHA-384 or SHA-512 (RFC 8017, RFC 5758).
  private static let strongAlgorithms = [
    "1.2.840.113549.1.1.11", "1.2.840.113549.1.1.12", "1.2.840.113549.1.1.13",
    "1.2.840.10045.4.3.2", "1.2.840.10045.4.3.3", "1.2.840.10045.4.3.4",
  ]

  /// The marker extensions say that these certificates are for receipts; RFC 5280 alone cannot.
  private func checkPurposes(leaf: Certificate, intermediate: Certificate) throws(Failure) {
    let pairs = markers.filter { leaf.hasExtension($0.leaf) }
    guard !pairs.isEmpty else {
      throw .refused(
        Reason(
          .certificatePurpose, at: "certificate 0",
          "The signer's certificate \"\(leaf.subject)\" lacks the extension that marks receipt signing ("
            + markers.map(\.leaf).sorted().joined(separator: " or ") + ")."))
    }
    guard pairs.contains(where: { intermediate.hasExtension($0.intermediate) }) else {
      throw .refused(
        Reason(
          .certificatePurpose, at: "certificate 1",
          "The intermediate \"\(intermediate.subject)\" lacks the extension that marks it as an issuer of "
            + "receipt signers (" + pairs.map(\.intermediate).sorted().joined(separator: " or ") + ")."))
    }
    if leaf.isCertificateAuthority {
      throw .refused(
        Reason(
          .certificatePurpose, at: "certificate 0",
          "The signer's certificate is a certificate authority; a receipt is signed by an end entity."))
    }
    if let keyUsage = leaf.keyUsage, !keyUsage.contains(.digitalSignature) {
      throw .refused(
        Reason(
          .certificatePurpose, at: "certificate 0",
          "The key usage of the signer's certificate does not include digital signatures."))
    }
  }

  private func reason(for failure: CertificationPath.Failure) -> Reason {
    let place = "certificate \(failure.depth)"
    // X509_V_ERR_INVALID_CA, _PATH_LENGTH_EXCEEDED, _INVALID_PURPOSE, _KEYUSAGE_NO_CERTSIGN and, since
    // OpenSSL 3.0, the more exact codes for a certificate authority that lacks its extensions.
    let purposeErrors: [Int32] = [24, 25, 26, 32, 79, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93]
    if purposeErrors.contains(Int32(failure.errorCode)) {
      return Reason(
        .certificatePurpose, at: place, "A certificate of the path is not fit for its part: \(failure.text).")
    }
    return Reason(
      .chainUntrusted, at: place,
      "The path to the trusted root does not hold: \(failure.text). The certificate is forged or damaged.")
  }

  private func untrusted(_ certificate: Certificate, at place: String = "certificate 0") -> Reason {
    Reason(
      .chainUntrusted, at: place,
      "No path leads from \"\(certificate.subject)\" to a trusted root; its issuer is "
        + "\"\(certificate.issuer)\". If the receipt is from a store of your own, trust that store's root.")
  }

  private func missingIssuer(of leaf: Certificate, trustedRoots: [Certificate]) -> Failure {
    let organization = leaf.issuerOrganization
    let soundsLikeOurs =
      organization != nil && trustedRoots.contains { $0.subjectOrganization == organization }
    // What issued itself lacks no issuer.
    guard soundsLikeOurs, !isComplete, !leaf.isSelfIssued else { return .refused(untrusted(leaf)) }
    return .issuerMissing(
      Reason(
        .issuerMissing, at: "certificate 0",
        "The certificate of the issuer \"\(leaf.issuer)\" is neither in the receipt nor among the "
          + "intermediates. Add it (receipt-tool: --intermediate FILE)."))
  }
}
