// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// An Ed25519 public key (RFC 8032 section 5.1). Two keys are equal if their 32 bytes are.
package struct Ed25519PublicKey: Sendable {
  package static let byteCount = 32
  package static let signatureByteCount = 64

  /// The 32 bytes of the key (RFC 8032 section 5.1.5).
  package let rawRepresentation: [UInt8]

  private let backing: Ed25519Backing

  /// Creates a key from its 32 bytes (RFC 8032 section 5.1.5). If the bytes are not a point on the curve, the key
  /// verifies no signature.
  ///
  /// - Throws: ``CryptoError/Code/malformedKey`` for any other number of bytes, or
  ///   ``CryptoError/Code/unsupportedAlgorithm`` if OpenSSL does not provide Ed25519.
  package init(rawRepresentation: [UInt8]) throws(CryptoError) {
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

  /// Returns the error for 32 bytes that OpenSSL rejects; a missing Ed25519 is the only possible cause.
  static func unavailable() -> CryptoError {
    ErrorQueue.error(
      .unsupportedAlgorithm,
      "libcrypto offers no Ed25519 here: use one whose providers have it (openssl list -signature-algorithms)."
    )
  }

  /// Returns `true` if `signature` is this key's signature of `message`: pure Ed25519, 64 bytes.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` if libcrypto could not compute the answer, for example because it
  ///   could not allocate memory. The signature may be valid or not.
  package func isValidSignature(_ signature: [UInt8], for message: [UInt8]) throws(CryptoError) -> Bool {
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
  package static func == (lhs: Ed25519PublicKey, rhs: Ed25519PublicKey) -> Bool {
    lhs.rawRepresentation == rhs.rawRepresentation
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(rawRepresentation) }
}

extension Ed25519PublicKey: CustomStringConvertible {
  package var description: String { "Ed25519PublicKey(\(Hexadecimal.encode(rawRepresentation)))" }
}

/// Owns an OpenSSL Ed25519 key, public or private.
@safe
final class Ed25519Backing {
  let key: OpaquePointer

  init(takingOwnership key: OpaquePointer) { unsafe self.key = key }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Returns the 32 bytes of the public key; `nil` if OpenSSL fails.
  func publicBytes() -> [UInt8]? {
    var complete = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Ed25519PublicKey.byteCount) { buffer, count in
      var length = buffer.count
      complete =
        unsafe EVP_PKEY_get_raw_public_key(key, buffer.baseAddress, &length) == 1 && length == buffer.count
      count = complete ? length : 0
    }
    return complete ? bytes : nil
  }
}

// The key does not change after its creation. OpenSSL allows several threads to use such a key at once, and each call
// has its own context.
extension Ed25519Backing: @unchecked Sendable {}
