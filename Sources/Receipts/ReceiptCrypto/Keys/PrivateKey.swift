// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A private key, which is never printed: descriptions and mirrors show only its kind.
public struct PrivateKey: Sendable {
  /// The corresponding public key.
  public let publicKey: PublicKey

  let backing: KeyBacking

  /// Generates a new P-256 key.
  package static func generateP256() throws(CryptoError) -> PrivateKey {
    try unsafe generate { unsafe COpenSSL_EVP_EC_gen("P-256") }
  }

  /// Generates a new P-384 key.
  package static func generateP384() throws(CryptoError) -> PrivateKey {
    try unsafe generate { unsafe COpenSSL_EVP_EC_gen("P-384") }
  }

  /// Generates a new RSA key with a modulus of `bits` bits, 1024 to 8192, and the public exponent 65537.
  package static func generateRSA(bits: Int = 2048) throws(CryptoError) -> PrivateKey {
    guard RSABounds.modulusBits.contains(bits) else {
      throw CryptoError(
        .unsupportedKey, "RSA keys of \(bits) bits are not used; choose 1024 to 8192, best 2048 or more.")
    }
    return try unsafe generate { unsafe COpenSSL_EVP_RSA_gen(UInt32(bits)) }
  }

  private static func generate(_ make: () -> OpaquePointer?) throws(CryptoError) -> PrivateKey {
    ErrorQueue.clear()
    guard let key = unsafe make() else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not generate a key.")
    }
    return try unsafe PrivateKey(takingOwnership: key)
  }

  /// Takes ownership of a key from OpenSSL, and checks with a signature that its private and public parts match.
  init(takingOwnership key: OpaquePointer) throws(CryptoError) {
    guard let subjectPublicKeyInfo = unsafe OpenSSLBytes.encoded({ unsafe i2d_PUBKEY(key, $0) }) else {
      unsafe EVP_PKEY_free(key)
      throw ErrorQueue.error(.malformedKey, "The private key has no public key that can be encoded.")
    }
    let backing = unsafe try KeyBacking(takingOwnership: key, subjectPublicKeyInfo: subjectPublicKeyInfo)
    self.backing = backing
    self.publicKey = PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo, backing: backing)
    guard backing.isSupported, let algorithm = publicKey.kind.proofAlgorithm else {
      throw CryptoError(
        .unsupportedKey,
        """
        A private key of kind \(publicKey.kind) cannot be used. Use P-256, P-384 or P-521 by name, or RSA of \
        1024 to 8192 bits.
        """)
    }
    let message = Array("key check".utf8)
    guard let signature = try? signature(for: message, using: algorithm),
      try publicKey.isValidSignature(signature, for: message, using: algorithm)
    else {
      throw CryptoError(
        .malformedKey, "The private and the public part of this key do not belong together.")
    }
  }
}

extension PublicKey.Kind {
  fileprivate var proofAlgorithm: SignatureAlgorithm? {
    switch self {
    case .p256, .p384, .p521: .ecdsa(.sha256)
    case .rsa: .rsaPKCS1v15(.sha256)
    case .other: nil
    }
  }
}

extension PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A description with the kind of key, never the key.
  public var description: String { "PrivateKey(\(publicKey.kind))" }
  /// A description with the kind of key, never the key.
  public var debugDescription: String { description }
  /// A mirror that shows only the kind of key.
  public var customMirror: Mirror { Mirror(self, children: ["kind": publicKey.kind]) }
}
