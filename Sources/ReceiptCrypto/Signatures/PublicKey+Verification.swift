// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension PublicKey {
  /// Whether `signature` is this key's signature of `message`.
  ///
  /// `false` too where the algorithm does not go with the key, or the signature is not encoded exactly as the
  /// algorithm says.
  public func isValidSignature(
    _ signature: Span<UInt8>, for message: Span<UInt8>, using algorithm: SignatureAlgorithm
  ) -> Bool {
    Digest.withHash(of: message, using: algorithm.digestAlgorithm) { digest in
      isValidSignature(signature, forDigest: digest, using: algorithm)
    }
  }

  /// Whether `signature` is this key's signature of `message`.
  ///
  /// `false` too where the algorithm does not go with the key, or the signature is not encoded exactly as the
  /// algorithm says.
  public func isValidSignature(
    _ signature: [UInt8], for message: [UInt8], using algorithm: SignatureAlgorithm
  ) -> Bool {
    isValidSignature(signature.span, for: message.span, using: algorithm)
  }

  /// Whether `signature` is this key's signature of the message whose digest is `digest`.
  package func isValidSignature(
    _ signature: Span<UInt8>, forDigest digest: Span<UInt8>, using algorithm: SignatureAlgorithm
  ) -> Bool {
    guard let backing, backing.isSupported, digest.count == algorithm.digestAlgorithm.byteCount,
      let signatureLength = Int32(exactly: signature.count)
    else { return false }
    ErrorQueue.clear()
    let isValid = unsafe signature.withUnsafeBufferPointer { signature in
      unsafe digest.withUnsafeBufferPointer { digest in
        switch (algorithm, backing.concrete) {
        case (.ecdsaP256SHA256, .ec(let key)):
          return unsafe backing.kind == .p256 && Self.verifyRaw(signature, digest, key)
        case (.ecdsa, .ec(let key)):
          // Refuses everything but DER: it decodes, encodes again and compares (ecdsa_ossl.c).
          return unsafe COpenSSL_ECDSA_verify(
            digest.baseAddress, Int32(digest.count), signature.baseAddress, signatureLength, key) == 1
        case (.rsaPKCS1v15(let hash), .rsa(let key)):
          // Builds the one encoding that is right and compares, so nothing of the padding is left to parse.
          return unsafe COpenSSL_RSA_verify(
            hash.nid, digest.baseAddress, UInt32(digest.count), signature.baseAddress,
            UInt32(signatureLength), key) == 1
        default:
          return false
        }
      }
    }
    if !isValid { ErrorQueue.clear() }
    return isValid
  }

  /// r ‖ s, 32 bytes each. OpenSSL itself refuses r and s outside 1 ..< n.
  private static func verifyRaw(
    _ signature: UnsafeBufferPointer<UInt8>, _ digest: UnsafeBufferPointer<UInt8>, _ key: OpaquePointer
  ) -> Bool {
    guard signature.count == 64, let bytes = signature.baseAddress, let parsed = unsafe ECDSA_SIG_new() else {
      return false
    }
    defer { unsafe ECDSA_SIG_free(parsed) }
    let r = unsafe BN_bin2bn(bytes, 32, nil)
    let s = unsafe BN_bin2bn(bytes + 32, 32, nil)
    guard unsafe ECDSA_SIG_set0(parsed, r, s) == 1 else {
      unsafe BN_free(r)
      unsafe BN_free(s)
      return false
    }
    return unsafe COpenSSL_ECDSA_do_verify(digest.baseAddress, Int32(digest.count), parsed, key) == 1
  }
}
