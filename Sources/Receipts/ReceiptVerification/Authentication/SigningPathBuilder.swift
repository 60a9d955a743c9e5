// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Builds the paths leaf → intermediate → trusted root (RFC 5280 section 6). Time is not evaluated here: a path is
/// built once and its validity is evaluated for every receipt that it signs.
struct SigningPathBuilder {
  /// Certificates that may have issued the leaf.
  let intermediates: [Certificate]
  /// The trusted roots at which a path may end.
  let trustedRoots: [Certificate]
  /// `true` if the receipt must embed the whole path, so that a missing issuer is an error of the receipt.
  let isComplete: Bool
  /// The pairs of marker extensions; leaf and intermediate must carry one pair.
  let markers: Set<CertificateMarkers>
  /// `true` if certificates may be signed with SHA-1.
  let acceptsSHA1: Bool

  /// The maximum number of certificates of one name that are tried; a receipt with more tries to exhaust the verifier.
  private static let maximumCandidates = 8

  /// Returns all paths from the leaf to a trusted root. There may be several: intermediates or roots may have the same
  /// name and key, and differ in their validity.
  func paths(of leaf: Certificate, isTrustedRoot: Bool) throws(ValidationError) -> [SigningPath] {
    if isTrustedRoot || trustedRoots.contains(where: { $0.subjectDER == leaf.issuerDER }) {
      throw .invalid(
        .chainLength, at: "certificate 0",
        "The root itself issued the signer's certificate; a path is leaf, intermediate, root.")
    }
    let issuers = intermediates.filter { $0.subjectDER == leaf.issuerDER && $0 != leaf }
    guard !issuers.isEmpty else { throw missingIssuer(of: leaf) }

    var found: [SigningPath] = []
    var refusal: ValidationError?
    for intermediate in issuers.prefix(Self.maximumCandidates) {
      do throws(ValidationError) {
        found += try paths(leaf: leaf, intermediate: intermediate)
      } catch {
        // A retryable error takes precedence: verified again, this path may hold.
        if refusal == nil || error.isRetryable { refusal = error }
      }
    }
    guard found.isEmpty else { return found }
    throw refusal ?? untrusted(leaf)
  }

  private func paths(
    leaf: Certificate, intermediate: Certificate
  ) throws(ValidationError) -> [SigningPath] {
    let candidates = trustedRoots.filter { $0.subjectDER == intermediate.issuerDER && $0 != intermediate }
    guard !candidates.isEmpty else {
      let isDeeper = intermediates.contains {
        $0 != intermediate && $0 != leaf && $0.subjectDER == intermediate.issuerDER && !$0.isSelfIssued
      }
      throw isDeeper
        ? .invalid(
          .chainLength, at: "certificate 1",
          "The path has more than three certificates; it must be leaf, intermediate, root.")
        : untrusted(intermediate, at: "certificate 1")
    }
    var found: [SigningPath] = []
    var refusal: ValidationError?
    for root in candidates.prefix(Self.maximumCandidates) {
      do throws(ValidationError) {
        found.append(try path([leaf, intermediate, root]))
      } catch {
        if refusal?.isRetryable != true { refusal = error }
      }
    }
    guard found.isEmpty else { return found }
    throw refusal ?? untrusted(intermediate, at: "certificate 1")
  }

  /// Returns the path if its signatures, algorithms and purposes are valid.
  private func path(_ path: [Certificate]) throws(ValidationError) -> SigningPath {
    let failure: CertificationPath.Failure?
    do throws(CryptoError) {
      failure = try CertificationPath.failure(
        leaf: path[0], intermediates: [path[1]], anchor: path[2], at: nil)
    } catch {
      throw .notComputed(error, at: "certificate chain")
    }
    if let failure { throw refusal(for: failure) }
    try requireAlgorithms(of: path.dropLast())
    try requirePurposes(leaf: path[0], intermediate: path[1])
    return SigningPath(path, leaf: path[0], assurance: .trustedRoot)
  }

  /// Requires that the certificates are signed with an accepted algorithm. The root is trusted regardless of the
  /// algorithm of its own signature.
  private func requireAlgorithms(of certificates: some Sequence<Certificate>) throws(ValidationError) {
    for (index, certificate) in certificates.enumerated() {
      let algorithm = certificate.signatureAlgorithmOID
      let isAccepted =
        Certificate.sha2SignatureOIDs.contains(algorithm)
        || acceptsSHA1 && SigningPath.sha1SignatureOIDs.contains(algorithm)
      guard isAccepted else {
        throw .invalid(
          .unsupportedAlgorithm, at: "certificate \(index)",
          "\"\(certificate.subject)\" is signed with the algorithm \(algorithm), which is not accepted "
            + "under this kind of receipt, or by the policy.")
      }
    }
  }

  /// Requires the marker extensions, which dedicate these certificates to receipts; RFC 5280 alone cannot.
  private func requirePurposes(leaf: Certificate, intermediate: Certificate) throws(ValidationError) {
    let pairs = markers.filter { leaf.hasExtension($0.leaf) }
    guard !pairs.isEmpty else {
      throw .invalid(
        .certificatePurpose, at: "certificate 0",
        "The signer's certificate \"\(leaf.subject)\" lacks the extension that marks receipt signing ("
          + markers.map(\.leaf).sorted().joined(separator: " or ") + ").")
    }
    guard pairs.contains(where: { intermediate.hasExtension($0.intermediate) }) else {
      throw .invalid(
        .certificatePurpose, at: "certificate 1",
        "The intermediate \"\(intermediate.subject)\" lacks the extension that marks it as an issuer of "
          + "receipt signers (" + pairs.map(\.intermediate).sorted().joined(separator: " or ") + ").")
    }
    if leaf.isCertificateAuthority {
      throw .invalid(
        .certificatePurpose, at: "certificate 0",
        "The signer's certificate is a certificate authority; a receipt is signed by an end entity.")
    }
    if let keyUsage = leaf.keyUsage, !keyUsage.contains(.digitalSignature) {
      throw .invalid(
        .certificatePurpose, at: "certificate 0",
        "The key usage of the signer's certificate does not include digital signatures.")
    }
  }

  private func refusal(for failure: CertificationPath.Failure) -> ValidationError {
    let place = "certificate \(failure.depth)"
    // X509_V_ERR_INVALID_CA, _PATH_LENGTH_EXCEEDED, _INVALID_PURPOSE, _KEYUSAGE_NO_CERTSIGN and, since OpenSSL 3.0, the
    // more specific codes for a certificate authority without the required extensions.
    let purposeErrors: [Int32] = [24, 25, 26, 32, 79, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93]
    if purposeErrors.contains(Int32(failure.errorCode)) {
      return .invalid(
        .certificatePurpose, at: place, "A certificate of the path is not fit for its part: \(failure.text).")
    }
    return .invalid(
      .chainUntrusted, at: place,
      "The path to the trusted root does not hold: \(failure.text). The certificate is forged or damaged.")
  }

  private func untrusted(_ certificate: Certificate, at place: String = "certificate 0") -> ValidationError {
    .invalid(
      .chainUntrusted, at: place,
      "No path leads from \"\(certificate.subject)\" to a trusted root; its issuer is \"\(certificate.issuer)\". "
        + remedy(for: certificate))
  }

  private func remedy(for certificate: Certificate) -> String {
    if certificate.isSelfIssued { return SelfSignedTesting.remedy }
    let isIssuedByApple = (intermediates + TrustAnchors.apple.certificates).contains {
      $0.subjectDER == certificate.issuerDER && TrustAnchors.apple.contains($0)
    }
    return isIssuedByApple
      ? "That is Apple's root, and the policy does not trust Apple's roots: add apple to them (setting: trust)."
      : "If the receipt is from a store of your own, trust that store's root (setting: trust)."
  }

  /// Returns the error for a leaf whose issuer was not found. If the issuer's organization is that of a trusted root,
  /// the receipt may be genuine, and only the issuer's certificate is unavailable.
  private func missingIssuer(of leaf: Certificate) -> ValidationError {
    let organization = leaf.issuerOrganization
    let namesTrustedOrganization =
      organization != nil && trustedRoots.contains { $0.subjectOrganization == organization }
    // A self-issued certificate has no other issuer that could be missing.
    guard namesTrustedOrganization, !isComplete, !leaf.isSelfIssued else { return untrusted(leaf) }
    return .undetermined(
      Reason(
        .issuerMissing, at: "certificate 0",
        "The certificate of the issuer \"\(leaf.issuer)\" is neither in the receipt nor among the "
          + "intermediates. Add it (receipt-tool: --intermediate FILE)."))
  }
}
