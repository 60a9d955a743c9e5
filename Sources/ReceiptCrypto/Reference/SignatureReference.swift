// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// OpenSSL's high-level signature call: the other opinion in differential tests, and the mark in benchmarks.
package enum SignatureReference {
  /// `EVP_DigestVerify` with the key's default encoding: DER for ECDSA, PKCS#1 v1.5 for RSA.
  package static func isValidSignature(
    _ signature: [UInt8], for message: [UInt8], digest: DigestAlgorithm, key: PublicKey
  ) -> Bool {
    guard let key = unsafe key.backing?.key, let context = unsafe EVP_MD_CTX_new() else { return false }
    ErrorQueue.clear()
    defer {
      ErrorQueue.clear()
      unsafe EVP_MD_CTX_free(context)
    }
    guard unsafe EVP_DigestVerifyInit(context, nil, digest.implementation, nil, key) == 1 else {
      return false
    }
    return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }
}
