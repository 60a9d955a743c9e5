// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension PublicKey {
  /// Returns `true` if `signature` is this key's signature of `message`. Returns `false` if the algorithm does not fit
  /// the key, or the signature is not encoded exactly as the algorithm requires.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` if libcrypto could not compute the answer, because it could not
  ///   allocate memory or does not provide the digest. The signature may be valid or not.
  package func isValidSignature(
    _ signature: Span<UInt8>, for message: Span<UInt8>, using algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    let result = Digest.withHash(of: message, using: algorithm.digestAlgorithm) { digest in
      Result { () throws(CryptoError) in try isValidSignature(signature, forDigest: digest, using: algorithm)
      }
    }
    return try result.get()
  }

  /// Returns `true` if `signature` is this key's signature of `message`. See
  /// ``isValidSignature(_:for:using:)-(Span<UInt8>,_,_)``.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` if libcrypto could not compute the answer.
  package func isValidSignature(
    _ signature: [UInt8], for message: [UInt8], using algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    try isValidSignature(signature.span, for: message.span, using: algorithm)
  }

  /// Returns `true` if `signature` is this key's signature of the message with this digest.
  package func isValidSignature(
    _ signature: Span<UInt8>, forDigest digest: Span<UInt8>, using algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> Bool {
    guard let backing, backing.isSupported, digest.count == algorithm.digestAlgorithm.byteCount,
      let signatureLength = Int32(exactly: signature.count)
    else { return false }
    guard algorithm.digestAlgorithm.isAvailable else { throw algorithm.digestAlgorithm.unavailable }
    func ask() -> Answer {
      ErrorQueue.clear()
      return unsafe signature.withUnsafeBufferPointer { signature in
        unsafe digest.withUnsafeBufferPointer { digest in
          switch (algorithm, backing.concrete) {
          case (.ecdsaP256SHA256, .ec(let key)):
            return unsafe backing.kind == .p256 ? Self.verifyRaw(signature, digest, key) : .invalid
          case (.ecdsa, .ec(let key)):
            // OpenSSL accepts only DER: it decodes, encodes again and compares (ecdsa_ossl.c).
            let status = unsafe COpenSSL_ECDSA_verify(
              digest.baseAddress, Int32(digest.count), signature.baseAddress, signatureLength, key)
            return status >= 0 ? Answer(status == 1) : .failed
          case (.rsaPKCS1v15(let hash), .rsa(let key)):
            // OpenSSL builds the only correct encoding and compares, so it does not parse any padding.
            let status = unsafe COpenSSL_RSA_verify(
              hash.nid, digest.baseAddress, UInt32(digest.count), signature.baseAddress,
              UInt32(signatureLength), key)
            return status == 1 ? .valid : .failed
          case (.rsaPSS(let hash), .rsa):
            let status = unsafe COpenSSL_RSA_PSS_verify(
              backing.key, hash.implementation, digest.baseAddress, digest.count, signature.baseAddress,
              signature.count)
            return status == 1 ? .valid : .failed
          default:
            return .invalid
          }
        }
      }
    }
    defer { ErrorQueue.clear() }
    let answer = ask()
    guard answer == .failed, !ErrorQueue.isRefusal(ErrorQueue.drain()) else { return answer == .valid }
    var errors: [OpenSSLError] = []
    let confirmed = try Libcrypto.confirming { () -> Answer? in
      let answer = ask()
      errors = answer == .failed ? ErrorQueue.drain() : []
      return answer.unlessFailed
    }
    guard !ErrorQueue.isInability(errors) else {
      throw ErrorQueue.inability(errors, digest: algorithm.digestAlgorithm)
    }
    // Some encodings are rejected without an error.
    return confirmed == .valid
  }

  /// Returns the digest that an RSASSA-PKCS1-v1_5 signature by this key covers; `nil` if it is not such a signature.
  /// Use it only to explain a failure: it shows what was signed, but not that a message is genuine.
  package func digest(in signature: ArraySlice<UInt8>, of algorithm: DigestAlgorithm) -> [UInt8]? {
    guard let backing, backing.isSupported, case .rsa(let bits) = backing.kind else { return nil }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    var count = (bits + 7) / 8
    var status: Int32 = 0
    let digest = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      unsafe signature.withUnsafeBufferPointer { signature in
        unsafe status = COpenSSL_RSA_recover_digest(
          backing.key, algorithm.implementation, signature.baseAddress, signature.count, buffer.baseAddress,
          &count)
      }
      initialized = status == 1 ? count : 0
    }
    return status == 1 && digest.count == algorithm.byteCount ? digest : nil
  }

  private enum Answer {
    case valid, invalid
    /// The error queue shows whether the signature was rejected or could not be checked.
    case failed

    init(_ isValid: Bool) { self = isValid ? .valid : .invalid }

    var unlessFailed: Answer? { self == .failed ? nil : self }
  }

  /// Verifies r ‖ s, 32 bytes each. OpenSSL itself rejects r and s outside 1 ..< n.
  private static func verifyRaw(
    _ signature: UnsafeBufferPointer<UInt8>, _ digest: UnsafeBufferPointer<UInt8>, _ key: OpaquePointer
  ) -> Answer {
    guard signature.count == 64, let bytes = signature.baseAddress else { return .invalid }
    guard let parsed = unsafe ECDSA_SIG_new() else { return .failed }
    defer { unsafe ECDSA_SIG_free(parsed) }
    let r = unsafe BN_bin2bn(bytes, 32, nil)
    let s = unsafe BN_bin2bn(bytes + 32, 32, nil)
    guard unsafe ECDSA_SIG_set0(parsed, r, s) == 1 else {
      unsafe BN_free(r)
      unsafe BN_free(s)
      return .failed
    }
    let status = unsafe COpenSSL_ECDSA_do_verify(digest.baseAddress, Int32(digest.count), parsed, key)
    return status >= 0 ? Answer(status == 1) : .failed
  }
}

/// A signature algorithm with its encoding.
package enum SignatureAlgorithm: Sendable, Hashable {
  /// ECDSA over P-256 and SHA-256, encoded as the 64 bytes r ‖ s: `ES256` of RFC 7518 section 3.4.
  case ecdsaP256SHA256
  /// ECDSA over the key's own curve (P-256, P-384 or P-521), encoded as the DER `Ecdsa-Sig-Value` of RFC 3279
  /// section 2.2.3.
  case ecdsa(DigestAlgorithm)
  /// RSASSA-PKCS1-v1_5 of RFC 8017 section 8.2.
  case rsaPKCS1v15(DigestAlgorithm)
  /// RSASSA-PSS of RFC 8017 section 8.1: MGF1 with the same digest, and a salt of the digest's length.
  case rsaPSS(DigestAlgorithm)

  package var digestAlgorithm: DigestAlgorithm {
    switch self {
    case .ecdsaP256SHA256: .sha256
    case .ecdsa(let digest), .rsaPKCS1v15(let digest), .rsaPSS(let digest): digest
    }
  }
}
