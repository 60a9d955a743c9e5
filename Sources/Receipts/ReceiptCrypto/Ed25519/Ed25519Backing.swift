// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
