// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// A request for a certificate (PKCS#10, RFC 2986). Only its key is used: the issuer decides over names and extensions.
package struct CertificationRequest: Sendable {
  /// The key to certify. Its private key has signed the request.
  package let publicKey: PublicKey

  /// Reads a request in PEM (`CERTIFICATE REQUEST`) or DER.
  ///
  /// - Throws: ``CryptoError`` with `malformedPEM`, `malformedKey` if it is not a request or its signature is not that of
  ///   its key, or an error of ``PublicKey``.
  package init(inFile contents: [UInt8]) throws(CryptoError) {
    var der = contents
    if ByteSearch.contains("-----BEGIN", in: contents.span) {
      let labels = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"]
      guard let block = try PEMBlock.blocks(in: contents).first(where: { labels.contains($0.label) }) else {
        throw CryptoError(.malformedPEM, "There is no \"CERTIFICATE REQUEST\" block in this PEM text.")
      }
      der = block.bytes
    }
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe X509_REQ_free($0) }) {
      unsafe d2i_X509_REQ(nil, $0, $1)
    }
    guard let request = unsafe decoded else {
      throw ErrorQueue.error(.malformedKey, "This is not a certification request (PKCS#10) in PEM or DER.")
    }
    defer { unsafe X509_REQ_free(request) }
    let encoded = unsafe OpenSSLBytes.encoded {
      unsafe i2d_X509_PUBKEY(X509_REQ_get_X509_PUBKEY(request), $0)
    }
    guard let encoded else { throw Libcrypto.outOfMemory }
    publicKey = try PublicKey(subjectPublicKeyInfo: encoded)
    guard let key = publicKey.backing, key.isSupported,
      try Libcrypto.matches({ unsafe X509_REQ_verify(request, key.key) })
    else {
      throw CryptoError(
        .malformedKey, "The signature of the certification request was not made with the key in it.")
    }
  }
}
