// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Hashes bytes that are all in memory.
public enum Digest {
  /// The digest of `bytes`.
  public static func hash(_ bytes: Span<UInt8>, using algorithm: DigestAlgorithm) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      unsafe hash(bytes, using: algorithm, into: buffer)
      count = algorithm.byteCount
    }
  }

  /// The digest of `bytes`.
  public static func hash(_ bytes: [UInt8], using algorithm: DigestAlgorithm) -> [UInt8] {
    hash(bytes.span, using: algorithm)
  }

  /// Calls `body` with the digest of `bytes`, which is on the stack.
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
    // Not reachable: computed on the stack, these functions have no way to fail.
    precondition(status == 1, "libcrypto could not compute \(algorithm)")
  }
}

/// Comparison that does not tell by its duration where two secrets differ.
public enum ConstantTime {
  /// Indicates whether both are of equal length and content. The time depends on the lengths alone.
  public static func equals(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else { return false }
    return unsafe CRYPTO_memcmp(a, b, a.count) == 0
  }
}
