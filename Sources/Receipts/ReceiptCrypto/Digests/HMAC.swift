// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Authenticates messages with a key that both sides have (RFC 2104).
package enum HMAC {
  /// The authentication code of `message`, as long as a digest of the algorithm.
  ///
  /// - Throws: ``CryptoError/Code/internalFailure`` where OpenSSL offers no such digest, or lacks memory.
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
