// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Hashes bytes that are in memory.
package enum Digest {
  /// Returns the digest of `bytes`.
  package static func hash(_ bytes: Span<UInt8>, using algorithm: DigestAlgorithm) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      unsafe hash(bytes, using: algorithm, into: buffer)
      count = algorithm.byteCount
    }
  }

  package static func hash(_ bytes: [UInt8], using algorithm: DigestAlgorithm) -> [UInt8] {
    hash(bytes.span, using: algorithm)
  }

  /// Calls `body` with the digest of `bytes`, without a heap allocation.
  static func withHash<Result>(
    of bytes: Span<UInt8>, using algorithm: DigestAlgorithm, _ body: (Span<UInt8>) -> Result
  ) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DigestAlgorithm.maximumByteCount) {
      buffer in
      unsafe hash(bytes, using: algorithm, into: buffer)
      let digest = unsafe UnsafeBufferPointer(rebasing: buffer[..<algorithm.byteCount])
      return unsafe body(digest.span)
    }
  }

  private static func hash(
    _ bytes: Span<UInt8>, using algorithm: DigestAlgorithm, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) {
    let status = unsafe bytes.withUnsafeBufferPointer { input in
      switch algorithm {
      case .sha1: unsafe COpenSSL_SHA1(input.baseAddress, input.count, buffer.baseAddress)
      case .sha256: unsafe COpenSSL_SHA256(input.baseAddress, input.count, nil, 0, buffer.baseAddress)
      case .sha384: unsafe COpenSSL_SHA384(input.baseAddress, input.count, buffer.baseAddress)
      case .sha512: unsafe COpenSSL_SHA512(input.baseAddress, input.count, buffer.baseAddress)
      }
    }
    // Unreachable: these functions use only the stack and cannot fail.
    precondition(status == 1, "libcrypto could not compute \(algorithm)")
  }
}

/// Compares secrets in a time that does not reveal where they differ.
package enum ConstantTime {
  /// Returns `true` if both have the same length and content; the time depends only on the lengths.
  package static func equals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
  }
}

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

/// Random bytes for keys, nonces and serial numbers.
package enum Random {
  /// Returns `count` bytes of OpenSSL's cryptographically secure generator (`RAND_bytes`); empty if the count is below
  /// 1.
  package static func bytes(_ count: Int) -> [UInt8] {
    guard count > 0 else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      // Only fails if the system provides no entropy, and no substitute for random bytes is acceptable.
      guard let length = Int32(exactly: count), unsafe RAND_bytes(buffer.baseAddress, length) == 1 else {
        preconditionFailure("the system's random generator gave no \(count) bytes")
      }
      initialized = count
    }
  }
}
