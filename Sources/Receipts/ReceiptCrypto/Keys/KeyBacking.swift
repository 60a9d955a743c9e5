// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns an OpenSSL key, public or private, and freed with the last value that uses it.
///
/// Beside the `EVP_PKEY` it keeps the `EC_KEY` or `RSA` inside it. Signing and verifying go to those
/// directly: for a raw P-256 signature that costs 58 µs, where `EVP_PKEY_verify` costs 59 µs on a context of
/// its own, which threads cannot share, and 64 to 71 µs where the context is copied or made for the call;
/// the raw signature would have to be encoded as DER besides. No other way is faster, and this one needs no
/// pool.
@safe
final class KeyBacking {
  @safe
  enum Concrete {
    case ec(OpaquePointer)
    case rsa(OpaquePointer)
    case none
  }

  let key: OpaquePointer
  let concrete: Concrete
  let kind: PublicKey.Kind
  /// Indicates whether signatures of this key are looked at: one of the named curves, or RSA within the bounds.
  let isSupported: Bool

  /// `subjectPublicKeyInfo` is the DER of the public part. Throws where memory is wanting; the key is freed then.
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
      kind = .other(unsafe Self.name(of: key))
      isSupported = false
    }
    ErrorQueue.clear()
  }

  deinit {
    switch concrete {
    case .ec(let ec): unsafe COpenSSL_EC_KEY_free(ec)
    case .rsa(let rsa): unsafe COpenSSL_RSA_free(rsa)
    case .none: break
    }
    unsafe EVP_PKEY_free(key)
  }

  private static func name(of key: OpaquePointer) -> String {
    guard let name = unsafe EVP_PKEY_get0_type_name(key) else { return "unknown" }
    return unsafe String(cString: name)
  }
}

// The key is not changed after it was made, and OpenSSL allows such a key to be used by several threads at
// once: reference counts are atomic, and the only things filled in later (an RSA key's Montgomery context and
// blinding) are guarded by the key's own lock.
extension KeyBacking: @unchecked Sendable {}

/// Which RSA keys are used. Receipts of 2011 to 2014 are signed with 1024 bits; beyond 8192 bits, or with a
/// large public exponent, one hostile certificate could cost milliseconds of verification.
enum RSABounds {
  static let modulusBits = 1024...8192

  static func contains(modulusBits bits: Int, exponent: OpaquePointer?) -> Bool {
    guard let exponent = unsafe exponent, modulusBits.contains(bits) else { return false }
    let exponentBits = unsafe BN_num_bits(exponent)
    return unsafe (2...32).contains(exponentBits) && BN_is_odd(exponent) == 1
  }
}
