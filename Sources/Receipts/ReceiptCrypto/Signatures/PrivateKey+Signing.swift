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
      default:
        throw CryptoError(
          .unsupportedAlgorithm, "A key of kind \(publicKey.kind) cannot sign with \(algorithm).")
      }
    guard let made else {
      throw ErrorQueue.error(.signingFailed, "OpenSSL could not sign with the key (\(publicKey.kind)).")
    }
    return made
  }

  private static func signRaw(_ message: [UInt8], _ key: OpaquePointer) -> [UInt8]? {
    let signed = unsafe Digest.withHash(of: message.span, using: .sha256) { digest in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe COpenSSL_ECDSA_do_sign(digest.baseAddress, Int32(digest.count), key)
      }
    }
    guard let signature = unsafe signed else { return nil }
    defer { unsafe ECDSA_SIG_free(signature) }
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
