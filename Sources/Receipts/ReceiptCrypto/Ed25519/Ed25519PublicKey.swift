// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// A public key of Ed25519 (RFC 8032 section 5.1). Two keys are equal when their 32 bytes are.
public struct Ed25519PublicKey: Sendable {
  /// The length of a public key, in bytes.
  public static let byteCount = 32
  /// The length of a signature, in bytes.
  public static let signatureByteCount = 64

  /// The 32 bytes of RFC 8032 section 5.1.5.
  public let rawRepresentation: [UInt8]

  private let backing: Ed25519Backing

  /// Takes over the 32 bytes of RFC 8032 section 5.1.5. Bytes that are no point of the curve verify nothing.
  ///
  /// - Throws: ``CryptoError/Code/malformedKey`` for any other number of bytes,
  ///   ``CryptoError/Code/unsupportedAlgorithm`` where OpenSSL offers no Ed25519.
  public init(rawRepresentation: [UInt8]) throws(CryptoError) {
    ErrorQueue.clear()
    guard rawRepresentation.count == Self.byteCount else {
      throw CryptoError(
        .malformedKey, "An Ed25519 public key is 32 bytes; these are \(rawRepresentation.count).")
    }
    guard
      let key = unsafe EVP_PKEY_new_raw_public_key(
        EVP_PKEY_ED25519, nil, rawRepresentation, rawRepresentation.count)
    else { throw Self.unavailable() }
    self.rawRepresentation = rawRepresentation
    unsafe backing = Ed25519Backing(takingOwnership: key)
  }

  /// 32 bytes are refused for one reason.
  static func unavailable() -> CryptoError {
    ErrorQueue.error(
      .unsupportedAlgorithm,
      "libcrypto offers no Ed25519 here: use one whose providers have it (openssl list -signature-algorithms)."
    )
  }

  /// Indicates whether `signature` is this key's signature of `message`: pure Ed25519, 64 bytes.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` where libcrypto could not compute the answer, for instance for want
  ///   of memory. Nothing follows for the signature.
  public func isValidSignature(_ signature: [UInt8], for message: [UInt8]) throws(CryptoError) -> Bool {
    guard signature.count == Self.signatureByteCount else { return false }
    func isMatch() throws(CryptoError) -> Bool {
      try Libcrypto.matches {
        guard let context = unsafe EVP_MD_CTX_new() else { return 0 }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, backing.key) == 1 else { return 0 }
        return unsafe EVP_DigestVerify(context, signature, signature.count, message, message.count)
      }
    }
    let confirmed = try Libcrypto.confirmingRefusal(orThrow: Libcrypto.outOfMemory) {
      () throws(CryptoError) in
      try Libcrypto.confirming { () throws(CryptoError) in try isMatch() ? true : nil }
    }
    return confirmed ?? false
  }
}

extension Ed25519PublicKey: Hashable {
  /// Indicates whether both have the same bytes.
  public static func == (lhs: Ed25519PublicKey, rhs: Ed25519PublicKey) -> Bool {
    lhs.rawRepresentation == rhs.rawRepresentation
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawRepresentation) }
}

extension Ed25519PublicKey: CustomStringConvertible {
  /// The bytes in hexadecimal.
  public var description: String { "Ed25519PublicKey(\(Hexadecimal.encode(rawRepresentation)))" }
}
