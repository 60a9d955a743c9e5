// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension PrivateKey {
  /// Signs `message`.
  ///
  /// - Throws: ``CryptoError/Code/unsupportedAlgorithm`` if the algorithm does not fit the key, or
  ///   ``CryptoError/Code/signingFailed`` if OpenSSL cannot sign.
  package func signature(
    for message: [UInt8], using algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> [UInt8] {
    ErrorQueue.clear()
    let made: [UInt8]? =
      switch (algorithm, backing.concrete) {
      case (.ecdsaP256SHA256, .ec(let key)) where backing.kind == .p256:
        unsafe Self.signRaw(message, key)
      case (.ecdsa(let hash), .ec(let key)):
        unsafe Self.sign(message, hash, capacity: COpenSSL_ECDSA_size(key)) { digest, signature, length in
          unsafe COpenSSL_ECDSA_sign(digest.baseAddress, Int32(digest.count), signature, length, key)
        }
      case (.rsaPKCS1v15(let hash), .rsa(let key)):
        unsafe Self.sign(message, hash, capacity: COpenSSL_RSA_size(key)) { digest, signature, length in
          unsafe COpenSSL_RSA_sign(
            hash.nid, digest.baseAddress, UInt32(digest.count), signature, length, key)
        }
      case (.rsaPSS(let hash), .rsa(let key)):
        unsafe Self.sign(message, hash, capacity: COpenSSL_RSA_size(key)) { digest, signature, length in
          var count = unsafe Int(COpenSSL_RSA_size(key))
          let status = unsafe COpenSSL_RSA_PSS_sign(
            backing.key, hash.implementation, digest.baseAddress, digest.count, signature, &count)
          unsafe length.pointee = UInt32(count)
          return status
        }
      case (_, .token): try signatureInToken(of: message, using: algorithm)
      default:
        throw CryptoError(
          .unsupportedAlgorithm, "A key of kind \(publicKey.kind) cannot sign with \(algorithm).")
      }
    guard let made else {
      throw ErrorQueue.error(.signingFailed, "OpenSSL could not sign with the key (\(publicKey.kind)).")
    }
    return made
  }

  /// Signs with the general functions, which reach providers and engines.
  private func signatureInToken(
    of message: [UInt8], using algorithm: SignatureAlgorithm
  ) throws(CryptoError) -> [UInt8] {
    let fits: Bool =
      switch (algorithm, backing.kind) {
      case (.ecdsaP256SHA256, .p256), (.ecdsa, .p256), (.ecdsa, .p384), (.ecdsa, .p521), (.rsaPKCS1v15, .rsa),
        (.rsaPSS, .rsa):
        true
      default: false
      }
    guard fits else {
      throw CryptoError(
        .unsupportedAlgorithm, "A key of kind \(publicKey.kind) cannot sign with \(algorithm).")
    }
    guard let context = unsafe EVP_MD_CTX_new() else { throw Libcrypto.outOfMemory }
    defer { unsafe EVP_MD_CTX_free(context) }
    var parameters: OpaquePointer?
    var isReady =
      unsafe EVP_DigestSignInit(
        context, &parameters, algorithm.digestAlgorithm.implementation, nil, backing.key) == 1
    if case .rsaPSS = algorithm, isReady {
      isReady =
        unsafe EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
    }
    var count = 0
    var signature: [UInt8] = []
    if isReady, unsafe EVP_DigestSign(context, nil, &count, message, message.count) == 1 {
      signature = [UInt8](repeating: 0, count: count)
      isReady = unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    } else {
      isReady = false
    }
    guard isReady, count <= signature.count else {
      throw ErrorQueue.error(
        .tokenUnavailable, "The token did not sign with \(tokenURI ?? "its key"); is it still there?")
    }
    signature.removeLast(signature.count - count)
    guard algorithm == .ecdsaP256SHA256 else { return signature }
    let decoded = unsafe OpenSSLBytes.decoded(signature, free: { unsafe ECDSA_SIG_free($0) }) {
      unsafe d2i_ECDSA_SIG(nil, $0, $1)
    }
    defer { unsafe ECDSA_SIG_free(decoded) }
    guard let raw = unsafe decoded.flatMap({ unsafe Self.raw($0) }) else {
      throw ErrorQueue.error(.signingFailed, "The token's signature is not one of ECDSA.")
    }
    return raw
  }

  private static func signRaw(_ message: [UInt8], _ key: OpaquePointer) -> [UInt8]? {
    let signed = unsafe Digest.withHash(of: message.span, using: .sha256) { digest in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe COpenSSL_ECDSA_do_sign(digest.baseAddress, Int32(digest.count), key)
      }
    }
    guard let signature = unsafe signed else { return nil }
    defer { unsafe ECDSA_SIG_free(signature) }
    return unsafe raw(signature)
  }

  /// Returns r ‖ s, 32 bytes each.
  private static func raw(_ signature: OpaquePointer) -> [UInt8]? {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
      guard let start = buffer.baseAddress,
        unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), start, 32) == 32,
        unsafe BN_bn2binpad(ECDSA_SIG_get0_s(signature), start + 32, 32) == 32
      else { return }
      count = 64
    }
    return bytes.isEmpty ? nil : bytes
  }

  private static func sign(
    _ message: [UInt8], _ hash: DigestAlgorithm, capacity: Int32,
    _ call: (
      UnsafeBufferPointer<UInt8>, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>
    ) -> Int32
  ) -> [UInt8]? {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Int(capacity)) { buffer, count in
      var length = UInt32(0)
      let status = Digest.withHash(of: message.span, using: hash) { digest in
        unsafe digest.withUnsafeBufferPointer { unsafe call($0, buffer.baseAddress, &length) }
      }
      count = status == 1 ? Int(length) : 0
    }
    return bytes.isEmpty ? nil : bytes
  }
}
