// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An Ed25519 private key (RFC 8032 section 5.1), which is never printed.
package struct Ed25519PrivateKey: Sendable {
  package let publicKey: Ed25519PublicKey

  private let backing: Ed25519Backing

  /// Generates a new key.
  package static func generate() throws(CryptoError) -> Ed25519PrivateKey {
    var seed = Random.bytes(32)
    defer { OpenSSLBytes.wipe(&seed) }
    return try Ed25519PrivateKey(rawRepresentation: seed)
  }

  /// Creates a key from its 32 secret bytes (RFC 8032 section 5.1.5).
  ///
  /// - Throws: ``CryptoError/Code/malformedKey`` for any other number of bytes, or
  ///   ``CryptoError/Code/unsupportedAlgorithm`` if OpenSSL does not provide Ed25519.
  package init(rawRepresentation: [UInt8]) throws(CryptoError) {
    ErrorQueue.clear()
    guard rawRepresentation.count == 32 else {
      throw CryptoError(
        .malformedKey, "An Ed25519 private key is 32 bytes; these are \(rawRepresentation.count).")
    }
    guard
      let key = unsafe EVP_PKEY_new_raw_private_key(
        EVP_PKEY_ED25519, nil, rawRepresentation, rawRepresentation.count)
    else { throw Ed25519PublicKey.unavailable() }
    try unsafe self.init(takingOwnership: key)
  }

  /// Reads the first private key of a PEM text. The key is in PKCS#8 (`PRIVATE KEY`, RFC 8410 section 7) or encrypted
  /// PKCS#8 (`ENCRYPTED PRIVATE KEY`).
  ///
  /// - Throws: ``CryptoError`` with the code `malformedPEM`, `malformedKey`, `passphraseRequired`, `wrongPassphrase`,
  ///   `unsupportedAlgorithm` (an encryption other than PBES2) or `unsupportedKey` (a key of another kind).
  package init(pem: String, passphrase: [UInt8]? = nil) throws(CryptoError) {
    var der = try PrivateKey.der(inPEM: pem)
    defer { OpenSSLBytes.wipe(&der) }
    let key = try unsafe PrivateKey.decode(der, passphrase: passphrase)
    guard unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else {
      unsafe EVP_PKEY_free(key)
      throw CryptoError(
        .unsupportedKey,
        "This is not an Ed25519 private key. Make one with: openssl genpkey -algorithm ed25519")
    }
    try unsafe self.init(takingOwnership: key)
  }

  private init(takingOwnership key: OpaquePointer) throws(CryptoError) {
    let backing = unsafe Ed25519Backing(takingOwnership: key)
    guard let publicBytes = backing.publicBytes() else {
      throw ErrorQueue.error(.malformedKey, "The private key has no public key.")
    }
    self.backing = backing
    publicKey = try Ed25519PublicKey(rawRepresentation: publicBytes)
  }

  /// Returns the key as a PEM block in PKCS#8, encrypted if there is a passphrase. The label is `PRIVATE KEY`, or
  /// `ENCRYPTED PRIVATE KEY` with a passphrase (PBES2: PBKDF2 with HMAC-SHA-256 and 600,000 iterations, AES-256-CBC).
  /// Write it to a file that others cannot read.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` if OpenSSL cannot encode or encrypt the key.
  package func pkcs8PEM(passphrase: [UInt8]? = nil) throws(CryptoError) -> String {
    try unsafe PrivateKey.pkcs8PEM(of: backing.key, passphrase: passphrase)
  }

  /// Signs `message` with pure Ed25519, and returns the 64 bytes of the deterministic signature.
  package func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    ErrorQueue.clear()
    let context = unsafe EVP_MD_CTX_new()
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureByteCount)
    var length = signature.count
    guard unsafe context != nil,
      unsafe EVP_DigestSignInit(context, nil, nil, nil, backing.key) == 1,
      unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1,
      length == signature.count
    else { throw ErrorQueue.error(.signingFailed, "OpenSSL could not sign with the Ed25519 key.") }
    return signature
  }
}

extension Ed25519PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description with the public key, never the private key.
  package var description: String { "Ed25519PrivateKey(of \(publicKey))" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
