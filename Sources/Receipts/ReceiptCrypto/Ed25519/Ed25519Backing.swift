// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Owns an Ed25519 key of OpenSSL, public or private.
@safe
final class Ed25519Backing {
  let key: OpaquePointer

  init(takingOwnership key: OpaquePointer) { unsafe self.key = key }

  deinit { unsafe EVP_PKEY_free(key) }

  /// The 32 bytes of the public key.
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

// The key is not changed after it was made, and OpenSSL allows such a key to be used by several threads at once;
// each call has a context of its own.
extension Ed25519Backing: @unchecked Sendable {}
