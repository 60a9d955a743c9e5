// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The second stage: turns a signed message into authenticated content. It builds certificate paths and verifies
/// signatures, of one receipt or of a batch. The order is the same for every format. First, the policy must accept the
/// algorithm. Second, the signer's certificates must lead to a trusted root. Third, the signature must match. Only then
/// is the content decoded.
struct Authenticator: Sendable {
  var resolver: SignerResolver

  /// Authenticates one receipt.
  ///
  /// - Throws: ``ValidationError`` if the receipt is not authentic.
  func authenticate(
    _ message: SignedMessage, signers: inout BatchSigners, trace: Trace?
  ) throws(ValidationError) -> AuthenticatedContent {
    let signer = try signer(of: message, among: &signers, trace: trace)
    return try AuthenticatedContent(decoding: verify(message, by: signer), trace: trace)
  }

  /// Authenticates receipts and verifies the signatures of one signer together if it has a table of its key's
  /// multiples. The result equals authenticating each receipt alone.
  func authenticate(
    _ receipts: [(receipt: RecognizedReceipt, trace: Trace?)], signers: inout BatchSigners
  ) -> [Result<AuthenticatedContent, ValidationError>] {
    var proven = [Result<ProvenMessage, ValidationError>](
      repeating: .failure(.missingResult), count: receipts.count)
    var groups: [SignatureGroup] = []
    for (index, (receipt, trace)) in receipts.enumerated() {
      do throws(ValidationError) {
        let message = try receipt.requireMessage()
        let signer = try signer(of: message, among: &signers, trace: trace)
        if SignatureGroup.add(message, by: signer, at: index, to: &groups) { continue }
        proven[index] = .success(try verify(message, by: signer))
      } catch {
        proven[index] = .failure(error)
      }
    }
    for group in groups {
      for (index, result) in group.verified() { proven[index] = result }
    }
    return zip(receipts, proven).map { receipt, message in
      Result { () throws(ValidationError) in
        try AuthenticatedContent(decoding: message.get(), trace: receipt.trace)
      }
    }
  }

  /// Returns the signer, if the policy accepts its algorithm.
  private func signer(
    of message: SignedMessage, among signers: inout BatchSigners, trace: Trace?
  ) throws(ValidationError) -> Signer {
    guard resolver.policy.algorithms.contains(message.algorithm) else {
      throw .invalid(.unsupportedAlgorithm, "The policy does not accept \(message.algorithm.rawValue).")
    }
    if let known = signers.known.lookUp(message.cacheKey, of: message.format) {
      trace?.add(.chain, passed: true, "known signer \"\(known.paths.first?.subject ?? "")\"")
      return known
    }
    let result =
      signers.resolved[message.cacheKey]
      ?? Result { () throws(ValidationError) in try resolver.resolve(message) }
    signers.resolved[message.cacheKey] = result
    let signer = try result.get()
    trace?.add(.chain, passed: true, signer.paths.first?.origin ?? "")
    return signer
  }

  /// Verifies the signature.
  private func verify(
    _ message: SignedMessage, by signer: Signer
  ) throws(ValidationError) -> ProvenMessage {
    guard let key = signer.paths.first?.publicKey else {
      throw .invalid(.chainUntrusted, "No path leads from the signer to a trusted root.")
    }
    let algorithm = message.algorithm.signatureAlgorithm
    let (signed, signature) = (message.signed, message.signature)
    if message.algorithm == .es256 { try Self.requireForm(ofES256: signature) }
    if case .attributes(let attributes, let content) = signed {
      try Self.requireDigest(of: content, in: attributes, using: algorithm)
    }
    let bytes = signed.bytes
    let isValid: Bool
    do throws(CryptoError) {
      if let prefixDigest = signer.prefixDigest, case .bytes(_, let sharedPrefix) = signed,
        let verifier = signer.fixedKeyVerifier
      {
        let rest = bytes.dropFirst(sharedPrefix)
        isValid = try verifier.isValid(signature.span, forDigest: prefixDigest.hash(ofPrefixAnd: rest.span))
      } else if signer.hasOneKey {
        isValid = try key.isValidSignature(signature.span, for: bytes.span, using: algorithm)
        if isValid { signer.countValidSignature() }
      } else {
        for (index, path) in signer.paths.enumerated()
        where try path.publicKey.isValidSignature(signature.span, for: bytes.span, using: algorithm) {
          return ProvenMessage(message: message, signer: signer, paths: signer.paths[index...index])
        }
        isValid = false
      }
    } catch {
      throw .notComputed(error, at: message.format.terms.place)
    }
    guard isValid else { throw mismatch(of: message, by: signer) }
    return ProvenMessage(message: message, signer: signer, paths: signer.paths[...])
  }

  private func mismatch(of message: SignedMessage, by signer: Signer) -> ValidationError {
    let diagnosis = DetachedSignatureDiagnosis(message)
    return .signatureMismatch(
      of: message, cause: diagnosis?.explanation(signer: signer, appKeys: resolver.policy.appKeys))
  }
}

/// A message whose signature matches, with those of its signer's paths that the signature proves.
struct ProvenMessage {
  let message: SignedMessage
  let signer: Signer
  let paths: ArraySlice<SigningPath>
}

/// The decoded content that a signature under a trusted path covers; the next stage evaluates the policy on it.
final class AuthenticatedContent {
  let proven: ProvenMessage
  let decoded: DecodedContent

  init(decoding proven: ProvenMessage, trace: Trace?) throws(ValidationError) {
    let message = proven.message
    trace?.add(
      .signature, passed: true,
      "\(message.algorithm.rawValue) signature matches \(message.format.terms.covers)")
    do throws(MalformedReceipt) {
      decoded = try message.decodedContent()
    } catch {
      trace?.add(.content, passed: false, error.description)
      throw .malformed(error)
    }
    self.proven = proven
    trace?.add(.content, passed: true, decoded.summary)
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
