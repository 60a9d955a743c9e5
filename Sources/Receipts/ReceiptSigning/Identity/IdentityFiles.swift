// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

extension SigningIdentity {
  /// Reads an identity from the contents of a key file and a chain file.
  ///
  /// - Parameters:
  ///   - keyFile: The private key in PEM or DER: PKCS#8 (RFC 5958), encrypted PKCS#8, SEC1 (RFC 5915) or
  ///     PKCS#1 (RFC 8017).
  ///   - chainFile: The certificates in PEM, leaf first, or a single certificate in DER.
  ///   - passphrase: The passphrase of an encrypted key, in UTF-8.
  /// - Throws: ``SigningError`` with `malformed-key`, `passphrase-required`, `wrong-passphrase`, `unsuitable-key`,
  ///   `malformed-certificate`, or an error of ``init(privateKey:chain:)``.
  public init(
    keyFile: [UInt8], chainFile: [UInt8], passphrase: [UInt8]? = nil
  ) throws(SigningError) {
    try self.init(
      privateKey: Self.privateKey(inFile: keyFile, passphrase: passphrase),
      chain: Self.certificates(inFile: chainFile))
  }

  /// Reads a private key file in PEM or DER.
  package static func privateKey(
    inFile contents: [UInt8], passphrase: [UInt8]? = nil
  ) throws(SigningError) -> PrivateKey {
    do throws(CryptoError) {
      // Every private key in DER is a SEQUENCE (0x30). The length byte after it may look like text: a P-256 key of SEC
      // 1 begins 0x30 0x77, "0w".
      if contents.first == 0x30, !contents.contains(Array("-----BEGIN".utf8)) {
        return try PrivateKey(der: contents, passphrase: passphrase)
      }
      return try PrivateKey(pem: String(decoding: contents, as: UTF8.self), passphrase: passphrase)
    } catch {
      throw SigningError(error)
    }
  }

  static func certificates(inFile contents: [UInt8]) throws(SigningError) -> [Certificate] {
    do throws(CryptoError) {
      return try Certificate.certificates(in: contents)
    } catch {
      throw SigningError(.malformedCertificate, error.description)
    }
  }
}

/// Passphrases from files and environment variables.
package enum Passphrase {
  /// Returns the passphrase without one trailing line end (LF or CR LF), which editors and `echo` append.
  package static func trimmingLineEnd(_ contents: [UInt8]) -> [UInt8] {
    var passphrase = contents
    guard passphrase.last == 0x0A else { return passphrase }
    passphrase.removeLast()
    if passphrase.last == 0x0D { passphrase.removeLast() }
    return passphrase
  }
}
