// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension PrivateKey {
  /// Returns the key as unencrypted PKCS#8 in DER; treat these bytes as a secret.
  package func pkcs8DER() throws(CryptoError) -> [UInt8] {
    try requireInMemory()
    return try unsafe Self.pkcs8DER(of: backing.key)
  }

  /// Returns the key as a PEM block in PKCS#8, encrypted if there is a passphrase.
  ///
  /// The label is `PRIVATE KEY`, or `ENCRYPTED PRIVATE KEY` with a passphrase (PBES2: PBKDF2 with HMAC-SHA-256 and
  /// 600,000 iterations, AES-256-CBC).
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` if OpenSSL cannot encode or encrypt the key, or
  ///   ``CryptoError/Code/unsupportedKey`` if it is in a token.
  public func pkcs8PEM(passphrase: [UInt8]? = nil) throws(CryptoError) -> String {
    try requireInMemory()
    return try unsafe Self.pkcs8PEM(of: backing.key, passphrase: passphrase)
  }

  /// Throws for a key in a token, which never leaves it.
  private func requireInMemory() throws(CryptoError) {
    guard tokenURI == nil else {
      throw CryptoError(.unsupportedKey, "The private key is in a token and cannot be written to a file.")
    }
  }

  static func pkcs8DER(of key: OpaquePointer) throws(CryptoError) -> [UInt8] {
    ErrorQueue.clear()
    let information = unsafe EVP_PKEY2PKCS8(key)
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
    guard let information = unsafe information,
      let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_PKCS8_PRIV_KEY_INFO(information, $0) })
    else { throw ErrorQueue.error(.internalFailure, "OpenSSL could not encode the private key.") }
    return der
  }

  static func pkcs8PEM(of key: OpaquePointer, passphrase: [UInt8]?) throws(CryptoError) -> String {
    guard let passphrase else {
      var der = try unsafe pkcs8DER(of: key)
      defer { OpenSSLBytes.wipe(&der) }
      return PEMBlock.encode(der, label: "PRIVATE KEY")
    }
    return PEMBlock.encode(try unsafe encryptedPKCS8DER(of: key, passphrase), label: "ENCRYPTED PRIVATE KEY")
  }

  private static func encryptedPKCS8DER(
    of key: OpaquePointer, _ passphrase: [UInt8]
  ) throws(CryptoError) -> [UInt8] {
    ErrorQueue.clear()
    let information = unsafe EVP_PKEY2PKCS8(key)
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
    var salt = Random.bytes(16)
    // OpenSSL generates the initialization vector.
    let encryption = unsafe PKCS5_pbe2_set_iv(
      EVP_aes_256_cbc(), iterations, &salt, Int32(salt.count), nil, NID_hmacWithSHA256)
    guard let information = unsafe information, let encryption = unsafe encryption else {
      unsafe X509_ALGOR_free(encryption)
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not prepare the encryption of the key.")
    }
    let made = unsafe passphrase.withUnsafeBufferPointer { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        unsafe PKCS8_set0_pbe(
          characters.baseAddress, Int32(clamping: characters.count), information, encryption)
      }
    }
    guard let encrypted = unsafe made else {
      unsafe X509_ALGOR_free(encryption)
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not encrypt the private key.")
    }
    defer { unsafe X509_SIG_free(encrypted) }
    guard let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_X509_SIG(encrypted, $0) }) else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not encode the encrypted key.")
    }
    return der
  }

  private static let iterations: Int32 = 600_000
}
