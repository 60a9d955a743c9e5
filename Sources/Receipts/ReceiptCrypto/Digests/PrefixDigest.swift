// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
