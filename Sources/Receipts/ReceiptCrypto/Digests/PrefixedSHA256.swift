// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Computes SHA-256 of a prefix and further bytes without an allocation, as for the hashes of a Merkle tree.
package enum PrefixedSHA256 {
  /// The 32 bytes of a digest in memory order, as four words.
  package typealias Words = (UInt64, UInt64, UInt64, UInt64)

  /// Returns the digest of `prefix` followed by `bytes`, or of `bytes` if there is no prefix.
  package static func hash(prefix: UInt8?, _ bytes: Span<UInt8>) -> Words {
    unsafe bytes.withUnsafeBytes { unsafe hash(prefix: prefix, $0) }
  }

  /// Returns the digest of `prefix` followed by `bytes`.
  package static func hash(prefix: Span<UInt8>, _ bytes: Span<UInt8>) -> Words {
    unsafe prefix.withUnsafeBytes { prefix in
      unsafe bytes.withUnsafeBytes { unsafe hash(prefix, $0) }
    }
  }

  /// Returns the digest of `prefix` followed by the 64 bytes of two digests.
  package static func hash(prefix: UInt8?, _ left: Words, _ right: Words) -> Words {
    unsafe withUnsafeBytes(of: (left, right)) { unsafe hash(prefix: prefix, $0) }
  }

  /// Returns the digest of `prefix` followed by the 32 bytes of a digest.
  package static func hash(prefix: UInt8?, _ digest: Words) -> Words {
    unsafe withUnsafeBytes(of: digest) { unsafe hash(prefix: prefix, $0) }
  }

  /// Converts a digest to the form that ``hash(prefix:_:)`` returns; `nil` unless it has 32 bytes.
  package static func words(of digest: some Collection<UInt8>) -> Words? {
    // Access all bytes in one call: for a generic collection each access to a byte costs several.
    let known = digest.withContiguousStorageIfAvailable { unsafe words(in: UnsafeRawBufferPointer($0)) }
    if let known { return known }
    return unsafe Array(digest).withUnsafeBytes { unsafe words(in: $0) }
  }

  private static func words(in bytes: UnsafeRawBufferPointer) -> Words? {
    unsafe bytes.count == MemoryLayout<Words>.size ? bytes.loadUnaligned(as: Words.self) : nil
  }

  private static func hash(prefix: UInt8?, _ bytes: UnsafeRawBufferPointer) -> Words {
    guard let prefix else { return unsafe hash(UnsafeRawBufferPointer(start: nil, count: 0), bytes) }
    return unsafe withUnsafeBytes(of: prefix) { unsafe hash($0, bytes) }
  }

  private static func hash(_ prefix: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) -> Words {
    var words: Words = (0, 0, 0, 0)
    let status = unsafe COpenSSL_SHA256(
      prefix.baseAddress, prefix.count, bytes.baseAddress, bytes.count, &words)
    // Unreachable: SHA-256 cannot fail.
    precondition(status == 1, "libcrypto could not compute SHA-256")
    return words
  }
}

/// Computes SHA-256 of messages with a common prefix, which is hashed only once.
package struct PrefixDigest: Sendable {
  private let state: COpenSSL_SHA256_state

  package init(_ prefix: Span<UInt8>) {
    var state = COpenSSL_SHA256_state()
    let status = unsafe prefix.withUnsafeBufferPointer { input in
      unsafe COpenSSL_SHA256_start(&state, input.baseAddress, input.count)
    }
    precondition(status == 1, "SHA-256 has no way to fail")
    self.state = state
  }

  /// Returns the digest of the prefix followed by `rest`.
  package func hash(ofPrefixAnd rest: Span<UInt8>) -> SHA256Digest {
    var state = state
    var words: PrefixedSHA256.Words = (0, 0, 0, 0)
    let status = unsafe rest.withUnsafeBufferPointer { input in
      unsafe COpenSSL_SHA256_finish(&state, input.baseAddress, input.count, &words)
    }
    precondition(status == 1, "SHA-256 has no way to fail")
    return SHA256Digest(inMemory: words)
  }
}
