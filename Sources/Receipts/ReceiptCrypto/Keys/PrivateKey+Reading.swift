// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

extension PrivateKey {
  /// Reads the first private key of a PEM text.
  ///
  /// The key is in PKCS#8 (`PRIVATE KEY`, the format of App Store Connect's `.p8` files), encrypted PKCS#8 (`ENCRYPTED
  /// PRIVATE KEY`), SEC 1 (`EC PRIVATE KEY`) or PKCS#1 (`RSA PRIVATE KEY`).
  ///
  /// - Parameters:
  ///   - pem: The text; other blocks in it are skipped.
  ///   - passphrase: The passphrase of an encrypted key; ignored if the key is not encrypted.
  /// - Throws: ``CryptoError`` with the code `malformedPEM`, `malformedKey`, `passphraseRequired`,
  ///   `wrongPassphrase`, `unsupportedAlgorithm` (an encryption other than PBES2) or `unsupportedKey`.
  public init(pem: String, passphrase: [UInt8]? = nil) throws(CryptoError) {
    var der = try Self.der(inPEM: pem)
    defer { OpenSSLBytes.wipe(&der) }
    try self.init(der: der, passphrase: passphrase)
  }

  /// Returns the DER of the first private key of a PEM text.
  static func der(inPEM pem: String) throws(CryptoError) -> [UInt8] {
    let labels = ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]
    var blocks = try PEMBlock.blocks(in: Array(pem.utf8))
    defer { for index in blocks.indices { OpenSSLBytes.wipe(&blocks[index].bytes) } }
    guard let index = blocks.firstIndex(where: { labels.contains($0.label) }) else {
      throw CryptoError(
        .malformedPEM, "There is no private key in this PEM text; expected a block \"PRIVATE KEY\".")
    }
    guard !blocks[index].hasHeaders else {
      throw CryptoError(
        .unsupportedAlgorithm,
        "The key is encrypted in OpenSSL's old PEM form. Convert it with: openssl pkcs8 -topk8 -in KEY")
    }
    var der: [UInt8] = []
    swap(&der, &blocks[index].bytes)
    return der
  }

  /// Reads a private key in DER: PKCS#8, encrypted PKCS#8, SEC 1 or PKCS#1, with nothing after it.
  ///
  /// - Throws: ``CryptoError`` with the code `malformedKey`, `passphraseRequired`, `wrongPassphrase`,
  ///   `unsupportedAlgorithm` (an encryption other than PBES2) or `unsupportedKey`.
  package init(der: [UInt8], passphrase: [UInt8]? = nil) throws(CryptoError) {
    try unsafe self.init(takingOwnership: Self.decode(der, passphrase: passphrase))
  }

  /// Decodes a private key of any kind; the caller owns the result.
  static func decode(_ der: [UInt8], passphrase: [UInt8]?) throws(CryptoError) -> OpaquePointer {
    guard let format = PrivateKeyFormat(der) else {
      throw CryptoError(
        .malformedKey, "This is not a private key in DER (PKCS#8, encrypted PKCS#8, SEC 1 or PKCS#1).")
    }
    ErrorQueue.clear()
    let decoded: OpaquePointer?
    switch format {
    case .encryptedPKCS8: unsafe decoded = try decryptPKCS8(der, passphrase)
    case .pkcs8:
      let information = unsafe OpenSSLBytes.decoded(der, free: { unsafe PKCS8_PRIV_KEY_INFO_free($0) }) {
        unsafe d2i_PKCS8_PRIV_KEY_INFO(nil, $0, $1)
      }
      unsafe decoded = information.flatMap { unsafe EVP_PKCS82PKEY($0) }
      unsafe PKCS8_PRIV_KEY_INFO_free(information)
    case .sec1: unsafe decoded = decode(der, type: EVP_PKEY_EC)
    case .pkcs1: unsafe decoded = decode(der, type: EVP_PKEY_RSA)
    }
    guard let key = unsafe decoded else {
      throw ErrorQueue.error(.malformedKey, "The private key (\(format.rawValue)) cannot be decoded.")
    }
    return unsafe key
  }

  private static func decode(_ der: [UInt8], type: Int32) -> OpaquePointer? {
    unsafe OpenSSLBytes.decoded(der, free: { unsafe EVP_PKEY_free($0) }) {
      unsafe d2i_PrivateKey(type, nil, $0, $1)
    }
  }

  private static func decryptPKCS8(_ der: [UInt8], _ passphrase: [UInt8]?) throws(CryptoError)
    -> OpaquePointer?
  {
    let decoded = unsafe OpenSSLBytes.decoded(der, free: { unsafe X509_SIG_free($0) }) {
      unsafe d2i_X509_SIG(nil, $0, $1)
    }
    guard let encrypted = unsafe decoded else { return nil }
    defer { unsafe X509_SIG_free(encrypted) }
    var algorithm: UnsafePointer<X509_ALGOR>?
    unsafe X509_SIG_get0(encrypted, &algorithm, nil)
    let iterations = unsafe COpenSSL_PBES2_PBKDF2_iterations(algorithm)
    guard iterations >= 0 else {
      throw CryptoError(
        .unsupportedAlgorithm,
        """
        The key is encrypted by something other than PBES2 with PBKDF2. Convert it with: \
        openssl pkcs8 -topk8 -v2 aes-256-cbc -in KEY
        """)
    }
    guard iterations <= maximumIterations else {
      throw CryptoError(
        .unsupportedAlgorithm,
        "The key asks for \(iterations) iterations of PBKDF2; at most \(maximumIterations) are done."
      )
    }
    guard let passphrase else {
      throw CryptoError(.passphraseRequired, "The private key is encrypted; give its passphrase.")
    }
    let opened = unsafe passphrase.withUnsafeBufferPointer { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        unsafe PKCS8_decrypt(encrypted, characters.baseAddress, Int32(clamping: characters.count))
      }
    }
    guard let information = unsafe opened else {
      throw ErrorQueue.error(.wrongPassphrase, "The passphrase does not open the private key.")
    }
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
    return unsafe EVP_PKCS82PKEY(information)
  }

  /// The maximum number of PBKDF2 iterations, so that a hostile key file cannot keep a process busy for long.
  private static let maximumIterations: Int64 = 10_000_000
}

/// The DER formats of private keys, distinguished by their first elements.
///
///     PrivateKeyInfo           SEQUENCE { INTEGER, SEQUENCE { … } , …      RFC 5208
///     EncryptedPrivateKeyInfo  SEQUENCE { SEQUENCE { … }, OCTET STRING }   RFC 5208
///     ECPrivateKey             SEQUENCE { INTEGER 1, OCTET STRING, …       RFC 5915
///     RSAPrivateKey            SEQUENCE { INTEGER 0, INTEGER, …            RFC 8017
private enum PrivateKeyFormat: String {
  case pkcs8 = "PKCS#8"
  case encryptedPKCS8 = "encrypted PKCS#8"
  case sec1 = "SEC 1"
  case pkcs1 = "PKCS#1"

  init?(_ der: [UInt8]) {
    guard let elements = DERSequence.elements(of: der), elements.count > 1 else { return nil }
    switch (elements[0].tag, elements[1].tag) {
    case (.integer, .sequence): self = .pkcs8
    case (.integer, .octetString): self = .sec1
    case (.integer, .integer): self = .pkcs1
    case (.sequence, .octetString): self = .encryptedPKCS8
    default: return nil
    }
  }
}
