// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// Signed transactions, renewal infos, app transactions, notifications and realtime requests (RFC 7515).
extension ReceiptVerifier {
  /// `checked` is what is known already of signer and signature, where many were checked together.
  func verifyJWS(
    _ jws: UnverifiedJWS, claimedKind: inout ReceiptKind?, checked: CheckedSignature? = nil
  ) throws(Objection) -> VerifiedReceipt {
    let chains: [SigningChain]
    do throws(Objection) {
      chains = try checkedSigners(of: jws, checked: checked)
    } catch {
      claimedKind = (try? jws.decodePayload(limits: limits))?.kind
      throw error
    }
    let payload = try decodedPayload(of: jws)
    claimedKind = payload.kind
    guard policy.kinds.contains(payload.kind) else {
      throw .invalid(.wrongKind, "The policy does not accept a \(payload.kind.rawValue).")
    }
    var nested: [VerifiedReceipt] = []
    if case .notification(let notification) = payload {
      nested = try verifySignedParts(of: notification)
    }
    let verified = try judge(payload, of: jws, nested: nested, chains: chains, isNested: false)
    try judgeEnvironment(of: verified)
    return verified
  }

  /// Verifies one signed part of a notification: it must be of the kind that its place promises.
  func verifyNestedJWS(
    _ compact: String, as kind: ReceiptKind, at place: String, surrounding: ReceiptEnvironment?
  ) throws(Objection) -> VerifiedReceipt {
    do throws(Objection) {
      let jws: UnverifiedJWS
      do throws(MalformedReceipt) {
        jws = try UnverifiedJWS(parsing: Array(compact.utf8), limits: limits)
      } catch {
        throw .malformed(error)
      }
      let chains = try checkedSigners(of: jws)
      let payload = try decodedPayload(of: jws)
      guard payload.kind == kind else {
        throw .invalid(
          .nestedMismatch, "Here a \(kind.rawValue) belongs, and this is a \(payload.kind.rawValue).")
      }
      let verified = try judge(payload, of: jws, nested: [], chains: chains, isNested: true)
      try judgeEnvironment(of: verified, surrounding: surrounding)
      return verified
    } catch {
      throw error.inside(place)
    }
  }

  /// A signature that was checked together with others.
  struct CheckedSignature {
    let signer: KnownSigner
    let isValid: Bool
  }

  /// The chains of the signer, once the signature was found to match.
  private func checkedSigners(
    of jws: UnverifiedJWS, checked: CheckedSignature? = nil
  ) throws(Objection) -> [SigningChain] {
    let header = jws.compact.span.extracting(jws.encodedHeaderRange)
    let known = checked?.signer ?? knownSigners.signer(carriedBy: header)
    let signer: KnownSigner
    if let known {
      explain(.chain, passed: true, "known signer \"\(known.chains.first?.subject ?? "")\"")
      signer = known
    } else {
      signer = try jwsSigner(of: jws)
    }
    guard !jws.signature.isEmpty else {
      throw .invalid(.unsigned, "The JWS has an empty signature part.")
    }
    guard jws.signature.count == Self.es256SignatureLength else {
      throw .invalid(
        .signatureMismatch, at: "JWS signature",
        "An ES256 signature has 64 bytes, r and s of 32 each (RFC 7518 section 3.4); "
          + "this one has \(jws.signature.count).")
    }
    guard checked?.isValid ?? isSignatureValid(of: jws, by: signer) else {
      throw .invalid(
        .signatureMismatch, at: "JWS signature",
        "The ES256 signature does not match header and payload: a byte of them or of the signature was "
          + "changed, or another key signed.")
    }
    explain(.signature, passed: true, "ES256 signature matches header and payload")
    if known == nil { knownSigners.remember(signer) }
    if checked == nil { signer.countValidSignatures() }
    return signer.chains
  }

  /// r and s of 32 bytes each (RFC 7518 section 3.4).
  static let es256SignatureLength = 64

  private func isSignatureValid(of jws: UnverifiedJWS, by signer: KnownSigner) -> Bool {
    if let fixedKeyVerifier = signer.fixedKeyVerifier {
      var digest: [UInt8] = []
      if appendDigest(of: jws, by: signer, to: &digest) {
        return fixedKeyVerifier.isValid(jws.signature.span, forDigest: digest.span)
      }
    }
    let message = jws.compact.span.extracting(jws.signingInputRange)
    return signer.chains.first?.publicKey
      .isValidSignature(jws.signature.span, for: message, using: .ecdsaP256SHA256) ?? false
  }

  /// Appends the SHA-256 of the signed bytes, of which the signer's header was hashed before.
  func appendDigest(of jws: UnverifiedJWS, by signer: KnownSigner, to digests: inout [UInt8]) -> Bool {
    guard let messageBeginning = signer.messageBeginning else { return false }
    let encodedPayload = (jws.encodedHeaderRange.upperBound + 1)..<jws.signingInputRange.upperBound
    return messageBeginning.appendHash(
      ofPrefixAnd: jws.compact.span.extracting(encodedPayload), to: &digests)
  }

  /// Parses the header and builds the path that its `x5c` claims.
  private func jwsSigner(of jws: UnverifiedJWS) throws(Objection) -> KnownSigner {
    let beginning = jws.compact.span.extracting(0..<(jws.encodedHeaderRange.upperBound + 1))
    return KnownSigner(
      carrier: Array(jws.compact[jws.encodedHeaderRange]), chains: try jwsChains(of: jws),
      messageBeginning: PrefixDigest(beginning, using: .sha256))
  }

  private func jwsChains(of jws: UnverifiedJWS) throws(Objection) -> [SigningChain] {
    let header: JWSHeader
    do throws(MalformedReceipt) {
      header = try jws.header(limits: limits)
    } catch {
      throw .malformed(error)
    }
    guard header.alg == "ES256" else {
      throw .invalid(
        .unsupportedAlgorithm, at: "$.alg of the JWS header",
        "The algorithm is \"\(header.alg)\"; a receipt is signed with ES256 and nothing else.")
    }
    try demandAlgorithm(.es256)
    guard header.crit == nil else {
      throw .invalid(
        .malformed, at: "$.crit of the JWS header",
        "The header demands extensions (crit); receipts have none, and none is understood.")
    }
    let certificates = try parseCertificates(header.x5c)
    if certificates.count == 1, let only = certificates.first, policy.selfSignedTesting.admits(only) {
      return [SigningChain([only], leaf: only, assurance: .pinnedTestCertificate)]
    }
    guard certificates.count == 3 else {
      throw .invalid(
        .chainLength, at: "$.x5c of the JWS header",
        "The header carries \(certificates.count) certificate(s); it must carry leaf, intermediate and root."
          + (certificates.count == 1
            ? " Xcode and unit tests sign with one: pin it to admit them (receipt-tool: --admit-xcode "
              + "--trust FILE)." : ""))
    }
    guard case .p256 = certificates[0].publicKey.kind else {
      throw .invalid(
        .unsupportedAlgorithm, at: "certificate 0", "The signer's key is not on P-256, as ES256 demands.")
    }
    guard trust.contains(certificates[2]) else {
      throw .invalid(
        .chainUntrusted, at: "certificate 2",
        "The root \"\(certificates[2].subject)\" with SHA-256 \(certificates[2].sha256FingerprintHex) is "
          + "not trusted. If the receipt is from a store of your own, trust that store's root.")
    }
    // Each certificate of x5c certifies the one before it (RFC 7515 section 4.1.6), so that no other root and
    // no issuer from elsewhere counts. ES256 never was used with SHA-1.
    return try signingChains(
      SigningChainBuilder(
        trust: TrustAnchors(certificates: [certificates[2]]),
        markers: policy.markers.subtracting([.iTunesStore]), acceptsSHA1: false, isComplete: true),
      leaf: certificates[0], intermediates: [certificates[1]], roots: [])
  }

  private func decodedPayload(of jws: UnverifiedJWS) throws(Objection) -> JWSPayload {
    do throws(MalformedReceipt) {
      let payload = try jws.decodePayload(limits: limits)
      explain(.content, passed: true, "it is a \(payload.kind.rawValue)")
      return payload
    } catch {
      explain(.content, passed: false, error.description)
      throw .malformed(error)
    }
  }

  private func judge(
    _ payload: JWSPayload, of jws: UnverifiedJWS, nested: [VerifiedReceipt], chains: [SigningChain],
    isNested: Bool
  ) throws(Objection) -> VerifiedReceipt {
    let claims = Claims(
      kind: payload.kind, environment: payload.environment, bundleId: payload.bundleId,
      appAppleId: payload.appAppleId,
      signedAt: payload.signedDate ?? nested.compactMap(\.signedAt).max(), isNested: isNested)
    let chain = try judge(claims, chains: chains)
    try demandDevice(of: payload)
    return VerifiedReceipt(
      content: .jws(payload), kind: claims.kind, environment: claims.environment,
      isEnvironmentProven: claims.environment != nil, bundleId: claims.bundleId,
      appAppleId: claims.appAppleId, signedAt: claims.signedAt,
      signer: chain.signerInformation(algorithm: .es256),
      assurance: chain.assurance, nested: nested, source: VerifiedReceipt.Source(.jws(jws)))
  }
}
