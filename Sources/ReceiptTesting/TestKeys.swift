// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto
public import ReceiptSigning

/// TEST KEYS: compiled in, published, the same everywhere, and therefore worth nothing. They exist so that test
/// receipts and vectors come out under the same certificates on every machine. Never trust what they sign
/// outside a test.
public enum TestKeys {
  /// Stands in for a key of App Store Connect, for tests of developer signatures.
  public static func developer() throws(SigningError) -> PrivateKey { try key(ES256.developer) }

  /// An RSA key that belongs to no certificate of the test authority.
  package static func otherRSA() throws(SigningError) -> PrivateKey { try key(RSA.foreign) }

  static func key(_ pem: String) throws(SigningError) -> PrivateKey {
    try SigningIdentity.privateKey(inFile: Array(pem.utf8))
  }
}
