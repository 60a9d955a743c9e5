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
