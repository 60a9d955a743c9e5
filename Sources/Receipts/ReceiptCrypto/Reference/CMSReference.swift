// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// OpenSSL's high-level CMS calls, the reference in differential tests and benchmarks. No verifier uses them.
package enum CMSReference {
  /// Verifies the signature of a SignedData with its content inside (`CMS_verify`). The signer's certificate is taken
  /// from the message and is not verified.
  package static func verify(_ der: [UInt8]) -> [UInt8]? {
    unsafe verify(der, store: nil, flags: UInt32(CMS_BINARY) | UInt32(CMS_NO_SIGNER_CERT_VERIFY))
  }

  /// Verifies a message, and the signer's path from the message's certificates to `anchor` (`CMS_verify`).
  ///
  /// - Parameters:
  ///   - der: The message.
  ///   - anchor: The trusted certificate.
  ///   - secondsSince1970: The time at which all certificates must be valid, their last second excluded; `nil` to
  ///     ignore dates.
  /// - Returns: The content; `nil` if the message or the path is not valid.
  package static func verify(_ der: [UInt8], anchor: Certificate, at secondsSince1970: Int64?) -> [UInt8]? {
    guard let store = unsafe TrustStore.make(trusting: anchor) else { return nil }
    defer { unsafe X509_STORE_free(store) }
    guard let parameters = unsafe X509_STORE_get0_param(store) else { return nil }
    unsafe TrustStore.configure(parameters, at: secondsSince1970)
    return unsafe verify(der, store: store, flags: UInt32(CMS_BINARY))
  }

  /// Signs content and puts it into the message (`CMS_sign`).
  ///
  /// - Throws: ``CryptoError/Code/signingFailed`` if OpenSSL cannot sign, or ``CryptoError/Code/internalFailure`` if it
  ///   cannot store the content or encode the message.
  package static func sign(
    _ content: [UInt8], certificate: Certificate, key: PrivateKey, digest: DigestAlgorithm,
    certificates: [Certificate] = [], signedAttributes: Bool
  ) throws(CryptoError) -> [UInt8] {
    ErrorQueue.clear()
    let input = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(input) }
    let length = Int32(clamping: content.count)
    guard unsafe BIO_write(input, content, length) == length || content.isEmpty else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL has no memory for the content.")
    }
    var flags = UInt32(CMS_BINARY) | UInt32(CMS_NOSMIMECAP)
    if !signedAttributes { flags |= UInt32(CMS_NOATTR) }
    let others: [OpaquePointer?] = unsafe certificates.map { unsafe $0.backing.certificate }
    let made = unsafe withExtendedLifetime(certificates) {
      unsafe COpenSSL_CMS_sign_with_digest(
        certificate.backing.certificate, key.backing.key, digest.implementation, others, others.count, input,
        flags)
    }
    guard let message = unsafe made else {
      throw ErrorQueue.error(.signingFailed, "CMS_sign failed.")
    }
    defer { unsafe CMS_ContentInfo_free(message) }
    guard let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_CMS_ContentInfo(message, $0) }) else {
      throw ErrorQueue.error(.internalFailure, "The CMS message cannot be encoded.")
    }
    return der
  }

  private static func verify(_ der: [UInt8], store: OpaquePointer?, flags: UInt32) -> [UInt8]? {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe CMS_ContentInfo_free($0) }) {
      unsafe d2i_CMS_ContentInfo(nil, $0, $1)
    }
    guard let message = unsafe decoded else { return nil }
    defer { unsafe CMS_ContentInfo_free(message) }
    return unsafe OpenSSLBytes.written { output in
      unsafe CMS_verify(message, nil, store, nil, output, flags) == 1
    }
  }
}

/// OpenSSL's high-level signature call, the reference in differential tests and benchmarks.
package enum SignatureReference {
  /// Returns `true` if `EVP_DigestVerify` accepts a signature. The signature has the key's default encoding, which is
  /// DER for ECDSA and PKCS#1 v1.5 for RSA, or RSASSA-PSS with a salt of the digest's length.
  package static func isValidSignature(
    _ signature: [UInt8], for message: [UInt8], digest: DigestAlgorithm, key: PublicKey, isPSS: Bool = false
  ) -> Bool {
    guard let key = unsafe key.backing?.key, let context = unsafe EVP_MD_CTX_new() else { return false }
    ErrorQueue.clear()
    defer {
      ErrorQueue.clear()
      unsafe EVP_MD_CTX_free(context)
    }
    var keyContext: OpaquePointer?
    guard unsafe EVP_DigestVerifyInit(context, &keyContext, digest.implementation, nil, key) == 1 else {
      return false
    }
    if isPSS {
      guard unsafe EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1,
        unsafe EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, RSA_PSS_SALTLEN_DIGEST) == 1
      else { return false }
    }
    return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}
