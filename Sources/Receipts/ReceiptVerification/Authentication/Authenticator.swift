// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The second stage: turns evidence into authenticated content.
///
/// It owns the cache of signers, builds certificate paths and verifies signatures, of one receipt or of a batch.
///
/// The order is the same for every format. First, the policy must accept the algorithm. Second, the signer's
/// certificates must lead to a trusted root. Third, the signature must match. Only then is the content decoded.
struct Authenticator: Sendable {
  let resolver: SignerResolver
  private let cache = SignerCache()

  init(resolver: SignerResolver) { self.resolver = resolver }

  /// All cached signers.
  var knownSigners: [KnownSigner] { cache.all }

  /// Authenticates one receipt.
  ///
  /// - Parameters:
  ///   - receipt: The recognized receipt.
  ///   - resolved: The signers resolved so far for the same batch, for notifications and for their parts.
  ///   - trace: The trace that records the diagnostics.
  /// - Returns: The content.
  /// - Throws: ``ValidationError`` if the receipt is not authentic.
  func authenticate(
    _ receipt: RecognizedReceipt, resolved: inout ResolvedSigners, trace: Trace?
  ) throws(ValidationError) -> AuthenticatedContent {
    let evidence = try receipt.requireEvidence()
    let signer = try signer(of: evidence, resolved: &resolved, trace: trace)
    let proven = try verify(evidence, by: signer)
    return try decode(evidence, signedBy: proven, trace: trace)
  }

  /// Authenticates receipts and verifies the signatures of one signer together if it has a table of its key's
  /// multiples.
  ///
  /// The result equals authenticating each receipt alone.
  ///
  /// - Parameters:
  ///   - receipts: The recognized receipts, each with the trace that records its diagnostics.
  ///   - resolved: The signers resolved so far for the same batch, for notifications and for their parts.
  /// - Returns: The content of each receipt or the reason that it is not authentic, in the same order.
  func authenticate(
    _ receipts: [(receipt: RecognizedReceipt, trace: Trace?)], resolved: inout ResolvedSigners
  ) -> [Result<AuthenticatedContent, ValidationError>] {
    var signers = [Result<ProvenSigner, ValidationError>](
      repeating: .failure(.missingResult), count: receipts.count)
    var groups: [SignatureGroup] = []
    for (index, (receipt, trace)) in receipts.enumerated() {
      do throws(ValidationError) {
        let evidence = try receipt.requireEvidence()
        let signer = try signer(of: evidence, resolved: &resolved, trace: trace)
        if SignatureGroup.add(evidence, by: signer, at: index, to: &groups) { continue }
        signers[index] = .success(try verify(evidence, by: signer))
      } catch {
        signers[index] = .failure(error)
      }
    }
    for group in groups {
      for (index, result) in group.verified() { signers[index] = result }
    }
    return zip(receipts, signers).map { receipt, signer in
      Result { () throws(ValidationError) in
        try decode(try receipt.receipt.requireEvidence(), signedBy: signer.get(), trace: receipt.trace)
      }
    }
  }

  /// The resolved signers of a batch that are not in the cache, by cache key.
  typealias ResolvedSigners = [SignerCacheKey: Result<KnownSigner, ValidationError>]

  /// Caches the signer of content that passed the policy, which makes its next receipts cheap.
  func remember(_ content: AuthenticatedContent) {
    cache.insert(content.signer, of: content.evidence.format)
  }

  /// Returns the signer, from the cache or resolved from its certificates.
  ///
  /// A result is reused for the other receipts of the batch, because it depends on the cache key alone.
  private func signer(
    of evidence: any Evidence, resolved: inout ResolvedSigners,
    trace: Trace?
  ) throws(ValidationError) -> KnownSigner {
    guard resolver.policy.algorithms.contains(evidence.algorithm) else {
      throw .invalid(.unsupportedAlgorithm, "The policy does not accept \(evidence.algorithm.rawValue).")
    }
    let key = evidence.cacheKey
    if let known = cache.signer(for: key, of: evidence.format) {
      trace?.add(.chain, passed: true, "known signer \"\(known.paths.first?.subject ?? "")\"")
      return known
    }
    let result: Result<KnownSigner, ValidationError>
    if let found = resolved[key] {
      result = found
    } else {
      result = Result { () throws(ValidationError) in try resolver.signer(of: evidence) }
      resolved[key] = result
    }
    let signer = try result.get()
    trace?.add(.chain, passed: true, signer.paths.first?.origin ?? "")
    return signer
  }

  /// Verifies the signature.
  ///
  /// - Returns: The signer, with the paths whose key made the signature.
  private func verify(_ evidence: any Evidence, by signer: KnownSigner) throws(ValidationError)
    -> ProvenSigner
  {
    guard let key = signer.paths.first?.publicKey else {
      throw .invalid(.chainUntrusted, "No path leads from the signer to a trusted root.")
    }
    let algorithm = evidence.algorithm.signatureAlgorithm
    let (signed, signature) = (evidence.signed, evidence.signature)
    if evidence.algorithm == .es256 { try Self.requireForm(ofES256: signature) }
    if case .attributes(let attributes, let content) = signed {
      try Self.requireDigest(of: content, in: attributes, using: algorithm)
    }
    let message = signed.bytes
    let isValid: Bool
    do throws(CryptoError) {
      if let prefixDigest = signer.prefixDigest, case .bytes(_, let sharedPrefix) = signed,
        let verifier = signer.fixedKeyVerifier
      {
        let rest = message.dropFirst(sharedPrefix)
        isValid = try verifier.isValid(signature.span, forDigest: prefixDigest.hash(ofPrefixAnd: rest.span))
      } else if signer.hasOneKey {
        isValid = try key.isValidSignature(signature.span, for: message.span, using: algorithm)
        if isValid { signer.countValidSignature() }
      } else {
        for (index, path) in signer.paths.enumerated()
        where try path.publicKey.isValidSignature(signature.span, for: message.span, using: algorithm) {
          return ProvenSigner(signer, paths: signer.paths[index...index])
        }
        isValid = false
      }
    } catch {
      throw .notComputed(error, at: evidence.format.signatureTerms.place)
    }
    guard isValid else { throw .signatureMismatch(of: evidence, by: signer) }
    return ProvenSigner(signer)
  }

  private func decode(
    _ evidence: any Evidence, signedBy signer: ProvenSigner, trace: Trace?
  ) throws(ValidationError) -> AuthenticatedContent {
    trace?.add(
      .signature, passed: true,
      "\(evidence.algorithm.rawValue) signature matches \(evidence.format.signatureTerms.covers)")
    do throws(MalformedReceipt) {
      let content = AuthenticatedContent(try evidence.decodedContent(), of: evidence, signedBy: signer)
      trace?.add(.content, passed: true, content.decoded.summary)
      return content
    } catch {
      trace?.add(.content, passed: false, error.description)
      throw .malformed(error)
    }
  }
}

/// A signer that made a signature, with those of its paths that the signature proves.
struct ProvenSigner {
  let signer: KnownSigner
  let paths: ArraySlice<SigningPath>

  init(_ signer: KnownSigner) { self.init(signer, paths: signer.paths[...]) }

  init(_ signer: KnownSigner, paths: ArraySlice<SigningPath>) {
    (self.signer, self.paths) = (signer, paths)
  }
}

/// The decoded content that a signature under a trusted path covers; the next stage evaluates the policy on it.
final class AuthenticatedContent {
  let evidence: any Evidence
  let signer: KnownSigner
  /// The paths that the signature proves.
  let paths: ArraySlice<SigningPath>
  let decoded: DecodedContent

  init(_ decoded: DecodedContent, of evidence: any Evidence, signedBy proven: ProvenSigner) {
    (self.evidence, signer, paths, self.decoded) = (evidence, proven.signer, proven.paths, decoded)
  }
}

extension Authenticator {
  fileprivate static func requireForm(ofES256 signature: ArraySlice<UInt8>) throws(ValidationError) {
    guard !signature.isEmpty else {
      throw .invalid(.unsigned, "The JWS has an empty signature part.")
    }
    guard signature.count == FixedKeyVerifier.signatureByteCount else {
      throw .invalid(
        .signatureMismatch, at: "JWS signature",
        "An ES256 signature has 64 bytes, r and s of 32 each (RFC 7518 section 3.4); "
          + "this one has \(signature.count).")
    }
  }

  /// Requires that the signed attributes name the content's type and digest, because the signature covers the
  /// attributes (RFC 5652 section 5.4).
  fileprivate static func requireDigest(
    of content: ArraySlice<UInt8>, in attributes: CMSSignedAttributes, using algorithm: SignatureAlgorithm
  ) throws(ValidationError) {
    guard attributes.contentType == ObjectIdentifiers.data, let messageDigest = attributes.messageDigest
    else {
      throw .invalid(
        .malformed, at: "signedAttrs",
        "Signed attributes must name the content type (data) and the message digest (RFC 5652 5.3).")
    }
    guard ConstantTime.equals(messageDigest, Digest.hash(content.span, using: algorithm.digestAlgorithm))
    else {
      throw .invalid(
        .signatureMismatch, at: "signedAttrs",
        "The message digest in the signed attributes is not that of the content: the content was changed.")
    }
  }
}
