// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto
package import ReceiptSigning

/// TEST KEYS: they are compiled in and published, so they protect nothing. They give test receipts and vectors the
/// same certificates on every machine. Never trust them outside a test.
package enum TestKeys {
  /// A key in place of one from App Store Connect, for tests of developer signatures.
  package static func developer() throws(SigningError) -> PrivateKey { try key(ES256TestKeys.developer) }

  /// The key that signs the purchases of `com.example.app` at Google Play and Huawei: see ``TestReceipts``.
  package static func app() throws(SigningError) -> PrivateKey { try key(RSATestKeys.app) }

  /// An RSA key that is not the key of any certificate of the test authority.
  package static func otherRSA() throws(SigningError) -> PrivateKey { try key(RSATestKeys.foreign) }

  static func key(_ pem: String) throws(SigningError) -> PrivateKey {
    try SigningIdentity.privateKey(inFile: Array(pem.utf8))
  }

  static func certificate(_ pem: String) throws(SigningError) -> Certificate {
    do throws(CryptoError) {
      if let first = try Certificate.certificates(in: Array(pem.utf8)).first { return first }
    } catch {
      throw SigningError(error)
    }
    throw SigningError(.malformedCertificate, "The compiled-in certificate is missing.")
  }
}
