// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns an OpenSSL key, public or private, which is freed with the last reference.
///
/// It keeps the `EVP_PKEY` and the `EC_KEY` or `RSA` in it, which are used directly to sign and verify. Verifying a raw
/// P-256 signature then takes 58 µs. `EVP_PKEY_verify` takes 59 µs with a context of its own, which threads cannot
/// share, and 64 to 71 µs if the context is copied or created for the call; it also needs the raw signature encoded as
/// DER. No other way is faster, and this one needs no pool.
@safe
final class KeyBacking {
  @safe
  enum Concrete {
    case ec(OpaquePointer)
    case rsa(OpaquePointer)
    /// A private key in a token, which signs by `EVP_DigestSign`. The public key is a `KeyBacking` of its own.
    case token
    case none
  }

  let key: OpaquePointer
  let concrete: Concrete
  let kind: PublicKey.Kind
  /// Indicates whether signatures of this key can be valid: it is on a named curve, or an RSA key within the bounds.
  let isSupported: Bool

  /// Takes ownership of a key; `subjectPublicKeyInfo` is the DER of its public part. If memory cannot be allocated, it
  /// throws and frees the key.
  init(takingOwnership key: OpaquePointer, subjectPublicKeyInfo: [UInt8]) throws(CryptoError) {
    unsafe self.key = key
    if let curve = NamedCurve(subjectPublicKeyInfo: subjectPublicKeyInfo) {
      guard let ec = unsafe COpenSSL_EVP_PKEY_get1_EC_KEY(key) else {
        unsafe EVP_PKEY_free(key)
        throw ErrorQueue.error(
          .internalFailure, "libcrypto could not read the parts of an elliptic curve key.")
      }
      unsafe concrete = .ec(ec)
      kind = curve.kind
      isSupported = true
    } else if unsafe EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA {
      guard let rsa = unsafe COpenSSL_EVP_PKEY_get1_RSA(key) else {
        unsafe EVP_PKEY_free(key)
        throw ErrorQueue.error(.internalFailure, "libcrypto could not read the parts of an RSA key.")
      }
      unsafe concrete = .rsa(rsa)
      let bits = unsafe Int(COpenSSL_RSA_bits(rsa))
      kind = .rsa(bits: bits)
      isSupported = unsafe RSABounds.contains(modulusBits: bits, exponent: COpenSSL_RSA_get0_e(rsa))
    } else {
      concrete = .none
      kind = .other(unsafe EVP_PKEY_get0_type_name(key).map { unsafe String(cString: $0) } ?? "unknown")
      isSupported = false
    }
    ErrorQueue.clear()
  }

  /// Takes ownership of a private key in a token, whose public part is of a kind.
  init(takingOwnership key: OpaquePointer, inTokenAs kind: PublicKey.Kind) {
    unsafe self.key = key
    concrete = .token
    self.kind = kind
    isSupported = true
  }

  deinit {
    switch concrete {
    case .ec(let ec): unsafe COpenSSL_EC_KEY_free(ec)
    case .rsa(let rsa): unsafe COpenSSL_RSA_free(rsa)
    case .token, .none: break
    }
    unsafe EVP_PKEY_free(key)
  }
}

// The key does not change after its creation. OpenSSL allows several threads to use such a key at once: its reference
// counts are atomic, and the key's own lock guards the only data that is added later, an RSA key's Montgomery context
// and blinding.
extension KeyBacking: @unchecked Sendable {}

/// The RSA keys that are accepted. Receipts from 2011 to 2014 are signed with 1024 bits. Above 8192 bits, or with a
/// large public exponent, a single hostile certificate could cost milliseconds of verification.
enum RSABounds {
  static let modulusBits = 1024...8192

  static func contains(modulusBits bits: Int, exponent: OpaquePointer?) -> Bool {
    guard let exponent = unsafe exponent, modulusBits.contains(bits) else { return false }
    let exponentBits = unsafe BN_num_bits(exponent)
    return unsafe (2...32).contains(exponentBits) && BN_is_odd(exponent) == 1
  }
}
