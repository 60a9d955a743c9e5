// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Computes message authentication codes with a shared key (RFC 2104).
package enum HMAC {
  /// Returns the authentication code of `message`, which has the length of the algorithm's digest.
  package static func code(
    for message: [UInt8], key: [UInt8], using algorithm: DigestAlgorithm
  ) throws(CryptoError) -> [UInt8] {
    guard let implementation = unsafe algorithm.implementation, let keyLength = Int32(exactly: key.count)
    else {
      throw algorithm.unavailable
    }
    ErrorQueue.clear()
    let code = unsafe [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      let made = unsafe COpenSSL.HMAC(
        implementation, key, keyLength, message, message.count, buffer.baseAddress, nil)
      count = unsafe made == nil ? 0 : algorithm.byteCount
    }
    guard !code.isEmpty else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not compute an HMAC.")
    }
    return code
  }
}
