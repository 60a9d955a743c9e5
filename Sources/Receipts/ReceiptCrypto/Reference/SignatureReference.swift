// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
