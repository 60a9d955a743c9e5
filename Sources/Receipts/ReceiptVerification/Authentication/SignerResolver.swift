// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// The certificates that a receipt embeds.
struct EmbeddedCertificates {
  /// The position of the signer's certificate among the embedded certificates.
  enum Leaf {
    case first
    /// The certificate with this issuer and serial number, in any position (RFC 5652 section 5.3).
    case issuer(ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>)
  }

  /// The certificates in DER, in the order of the receipt.
  let certificates: [[UInt8]]
  let leaf: Leaf
  let requirements: CertificateRequirements
}

/// Resolves the signer of a receipt. For certificates, it builds the paths from the embedded certificates to trusted
/// roots. For an app, it takes the keys that the policy names.
struct SignerResolver: Sendable {
  let trust: TrustAnchors
  let intermediates: [Certificate]
  let policy: VerificationPolicy
  /// See ``ReceiptVerifier/withoutBackgroundWork``.
  var buildsTablesInPlace = false

  /// The maximum number of embedded certificates; a genuine receipt embeds three, and parsing thousands would only cost
  /// time.
  private static let maximumCertificates = 16

  func resolve(_ message: SignedMessage) throws(ValidationError) -> Signer {
    let embedded: EmbeddedCertificates
    switch message.keySource {
    case .header(let jws): embedded = try EmbeddedCertificates(inHeaderOf: jws, limits: message.limits)
    case .certificates(let certificates, let issuer, let serialNumber):
      embedded = EmbeddedCertificates(
        certificates: certificates.map { Array($0) }, leaf: .issuer(issuer, serialNumber: serialNumber),
        requirements: .appReceipt)
    case .keyIdentifier:
      throw .invalid(
        .malformed, at: "signerInfo",
        "The signer is named by a key identifier; a receipt names it by issuer and serial number.")
    case .leaf(let certificate, let version):
      // The issuer is among the verifier's intermediates.
      embedded = EmbeddedCertificates(
        certificates: [certificate], leaf: .first,
        requirements: .transactionReceipt(signatureVersion: version))
    case .app(let package, let store):
      return Signer(
        cacheKey: message.cacheKey.detached(), paths: try paths(for: package, at: store), isCacheable: true,
        prefixDigest: nil, buildsTableInPlace: buildsTablesInPlace)
    }
    let certificates = try parse(embedded.certificates)
    let paths = try paths(of: certificates, leaf: embedded.leaf, under: embedded.requirements)
    let onPath = Set(paths.flatMap(\.certificates))
    var prefixDigest: PrefixDigest?
    if case .bytes(let bytes, let sharedPrefix) = message.signed, sharedPrefix > 0 {
      let prefix = bytes.prefix(sharedPrefix)
      prefixDigest = PrefixDigest(prefix.span)
    }
    // The signature of a JWS covers the certificates in its header, so that nobody but the signer can vary them, and a root
    // that was issued again costs no more than any other. To the other formats anybody can add certificates.
    let isCacheable =
      embedded.requirements.path == .embedded
      || Set(certificates).count == certificates.count && onPath.isSuperset(of: certificates)
    return Signer(
      cacheKey: message.cacheKey.detached(), paths: paths, isCacheable: isCacheable,
      prefixDigest: prefixDigest, buildsTableInPlace: buildsTablesInPlace)
  }

  // MARK: Keys of apps

  /// Returns a path for each key that the policy names for an app at a store.
  private func paths(
    for package: String, at store: PurchaseStore
  ) throws(ValidationError) -> [SigningPath] {
    let subject = "key of \(package) at \(store.displayName)"
    let keys = policy.appKeys.keys(of: package, at: store)
    guard !keys.isEmpty else {
      let option =
        switch store {
        case .googlePlay: "--play-key"
        case .huawei: "--huawei-key"
        }
      throw .undetermined(
        Reason(
          .keyMissing,
          "The policy names no \(subject). Take it from the store's console (receipt-tool: \(option) "
            + "\(package)=FILE; receipt-server: playKeys, huaweiKeys)."))
    }
    return try requireLength(of: keys, subject: subject).map { SigningPath(appKey: $0, subject: subject) }
  }

  /// Returns the keys that are long enough. A key that is too short does not invalidate a receipt that another key
  /// signed.
  private func requireLength(of keys: [PublicKey], subject: String) throws(ValidationError) -> [PublicKey] {
    let bits = policy.admitsShortKeys ? CertificateRequirements.shortKeyBits : CertificateRequirements.keyBits
    let accepted = keys.filter { key in
      if case .rsa(let found) = key.kind { found >= bits } else { false }
    }
    guard accepted.isEmpty else { return accepted }
    throw .invalid(
      .unsupportedAlgorithm,
      "The \(subject) is not RSA of \(bits) bits or more, as stores use them"
        + (policy.admitsShortKeys
          ? "." : "; a policy may admit 1024 bits by name (receipt-tool: --admit-short-keys)."))
  }

  // MARK: Certificates

  private func parse(_ encoded: [[UInt8]]) throws(ValidationError) -> [Certificate] {
    guard encoded.count <= Self.maximumCertificates else {
      throw .invalid(
        .chainLength,
        "The receipt embeds \(encoded.count) certificates; at most \(Self.maximumCertificates) are looked at."
      )
    }
    var certificates: [Certificate] = []
    for (index, der) in encoded.enumerated() {
      if let trusted = trust.certificates.first(where: { $0.der == der }) {
        certificates.append(trusted)
        continue
      }
      do throws(CryptoError) {
        certificates.append(try Certificate(der: der))
      } catch {
        guard error.code != .internalFailure else { throw .notComputed(error, at: "certificate \(index)") }
        throw .invalid(
          .malformed, at: "certificate \(index)", "It is not a well-formed certificate: \(error)")
      }
    }
    return certificates
  }

  private func paths(
    of certificates: [Certificate], leaf: EmbeddedCertificates.Leaf,
    under requirements: CertificateRequirements
  ) throws(ValidationError) -> [SigningPath] {
    if requirements.path == .embedded { try requireWholePath(certificates) }
    let leaf = try certificate(leaf, among: certificates)
    let isPinned = policy.selfSignedTesting.admits(leaf)
    try require(requirements.key, of: leaf)
    if isPinned, requirements.path == .searched || certificates.count == 1 {
      return [SigningPath([leaf], leaf: leaf, assurance: .pinnedTestCertificate)]
    }
    let candidates: [Certificate]
    let roots: [Certificate]
    switch requirements.path {
    case .embedded:
      let root = certificates[certificates.count - 1]
      // A path ends at a trusted name and key. If the embedded root has a trusted root's name and key but was issued
      // again or by another authority, the trusted root takes its place.
      roots =
        trust.contains(root)
        ? [root]
        : trust.certificates.filter {
          $0.subjectDER == root.subjectDER && $0.publicKey == root.publicKey
        }
      guard !roots.isEmpty else {
        throw .invalid(
          .chainUntrusted, at: "certificate 2",
          TrustAnchors.apple.contains(root)
            ? "The root is Apple's \"\(root.subject)\", and the policy does not trust Apple's roots: add apple to them "
              + "(setting: trust)."
            : "The root \"\(root.subject)\" with SHA-256 \(root.sha256FingerprintHex) is not trusted. If the receipt is "
              + "from a store of your own, trust that store's root (setting: trust).")
      }
      // Each certificate of x5c certifies the one before it (RFC 7515 section 4.1.6), so no other root and no issuer
      // from elsewhere is considered.
      candidates = [certificates[1]]
    case .searched:
      candidates = certificates.filter { $0 != leaf } + intermediates
      roots =
        trust.certificates
        + candidates.filter { trust.contains($0) && !trust.certificates.contains($0) }
    }
    // If the policy does not accept SHA-1 signatures, certificates signed with SHA-1 are not accepted either.
    let builder = SigningPathBuilder(
      intermediates: candidates, trustedRoots: roots, isComplete: requirements.path == .embedded,
      markers: policy.markers.subtracting([requirements.foreignMarkers]),
      acceptsSHA1: requirements.allowsSHA1Certificates && policy.algorithms.contains(.rsaSHA1))
    return try builder.paths(of: leaf, isTrustedRoot: trust.contains(leaf))
  }

  private func certificate(
    _ leaf: EmbeddedCertificates.Leaf, among certificates: [Certificate]
  ) throws(ValidationError) -> Certificate {
    switch leaf {
    case .first:
      guard let first = certificates.first else {
        throw .invalid(.chainLength, "The receipt embeds no certificate.")
      }
      return first
    case .issuer(let issuer, let serialNumber):
      let signers = certificates.filter {
        $0.issuerDER[...] == issuer && $0.serialNumber[...] == serialNumber
      }
      guard let signer = signers.first, signers.count == 1 else {
        throw .invalid(
          .chainUntrusted, at: "signerInfo",
          "\(signers.count) of the embedded certificates have the signer's issuer and serial number; "
            + "exactly one must.")
      }
      return signer
    }
  }

  private func requireWholePath(_ certificates: [Certificate]) throws(ValidationError) {
    if certificates.count == 1, policy.selfSignedTesting.admits(certificates[0]) { return }
    guard certificates.count == 3 else {
      throw .invalid(
        .chainLength, at: "$.x5c of the JWS header",
        "The header carries \(certificates.count) certificate(s); it must carry leaf, intermediate and root."
          + (certificates.count == 1 ? " \(SelfSignedTesting.remedy)" : ""))
    }
  }

  private func require(_ key: CertificateRequirements.Key, of leaf: Certificate) throws(ValidationError) {
    switch (key, leaf.publicKey.kind) {
    case (.p256, .p256): return
    case (.p256, _):
      throw .invalid(
        .unsupportedAlgorithm, at: "certificate 0", "The signer's key is not on P-256, as ES256 demands.")
    case (.rsa(let bits), .rsa(let found)) where found >= bits: return
    case (.rsa(let bits), _):
      throw .invalid(
        .unsupportedAlgorithm, at: "certificate 0",
        "The signer's key is not RSA of \(bits) bits or more, as this kind of receipt demands.")
    }
  }
}
