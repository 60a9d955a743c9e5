// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// A private key, which is never printed: descriptions and mirrors show only its kind.
public struct PrivateKey: Sendable {
  /// The corresponding public key.
  public let publicKey: PublicKey

  let backing: KeyBacking

  /// The URI of a key in a token, without its PIN (RFC 7512); `nil` for a key in memory.
  package let tokenURI: String?

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
    try self.init(
      backing, PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo, backing: backing), tokenURI: nil)
  }

  /// Takes ownership of a key in a token.
  init(takingOwnership key: OpaquePointer, tokenURI: String) throws(CryptoError) {
    guard let subjectPublicKeyInfo = unsafe Self.subjectPublicKeyInfo(ofKeyInToken: key) else {
      unsafe EVP_PKEY_free(key)
      throw ErrorQueue.error(
        .tokenUnavailable,
        "The token shows no public key for the private key; store the public key in it, too.")
    }
    let publicKey: PublicKey
    do throws(CryptoError) {
      publicKey = try PublicKey(subjectPublicKeyInfo: subjectPublicKeyInfo)
    } catch {
      unsafe EVP_PKEY_free(key)
      throw error
    }
    try self.init(
      unsafe KeyBacking(takingOwnership: key, inTokenAs: publicKey.kind), publicKey, tokenURI: tokenURI)
  }

  private init(_ backing: KeyBacking, _ publicKey: PublicKey, tokenURI: String?) throws(CryptoError) {
    self.backing = backing
    self.publicKey = publicKey
    self.tokenURI = tokenURI
    guard publicKey.isSupported, let algorithm = publicKey.kind.proofAlgorithm else {
      throw CryptoError(
        .unsupportedKey,
        """
        A private key of kind \(publicKey.kind) cannot be used. Use P-256, P-384 or P-521 by name, or RSA of \
        1024 to 8192 bits.
        """)
    }
    let message = Array("key check".utf8)
    let signature: [UInt8]
    do throws(CryptoError) {
      signature = try self.signature(for: message, using: algorithm)
    } catch {
      // A token has reasons of its own.
      throw tokenURI == nil ? Self.mismatch : error
    }
    guard try publicKey.isValidSignature(signature, for: message, using: algorithm) else {
      throw Self.mismatch
    }
  }

  /// Returns the public part of a key in a token; `nil` if the token does not show it. A key on a named curve is encoded
  /// again, because the provider writes the parameters of the curve in place of its name.
  private static func subjectPublicKeyInfo(ofKeyInToken key: OpaquePointer) -> [UInt8]? {
    guard let encoded = unsafe OpenSSLBytes.encoded({ unsafe i2d_PUBKEY(key, $0) }) else { return nil }
    var name = [CChar](repeating: 0, count: 80)
    guard unsafe EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { return encoded }
    guard let curve = unsafe OBJ_txt2obj(name, 0) else { return encoded }
    defer { unsafe ASN1_OBJECT_free(curve) }
    guard let point = DERSequence.elements(of: encoded)?.last,
      let oid = unsafe ObjectIdentifier(OpenSSLObject.dotted(curve)),
      let kind = ObjectIdentifier(ObjectIdentifiers.ecPublicKey)
    else { return nil }
    return ASN1Writer.encoding { writer in
      writer.write(.sequence) { key in
        key.write(.sequence) { algorithm in
          algorithm.write(kind)
          algorithm.write(oid)
        }
        key.append(encoded[point.encoded])
      }
    }
  }

  private static let mismatch = CryptoError(
    .malformedKey, "The private and the public part of this key do not belong together.")
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
