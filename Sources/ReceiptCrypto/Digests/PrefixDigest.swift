// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Digests of messages that all begin alike: the beginning is hashed once.
@safe
package final class PrefixDigest {
  private let context: OpaquePointer
  private let algorithm: DigestAlgorithm

  /// Hashes the beginning; `nil` when out of memory.
  package init?(_ prefix: Span<UInt8>, using algorithm: DigestAlgorithm) {
    guard let context = unsafe EVP_MD_CTX_new() else { return nil }
    unsafe self.context = context
    self.algorithm = algorithm
    let status = unsafe prefix.withUnsafeBufferPointer { input in
      unsafe EVP_DigestInit_ex(context, algorithm.implementation, nil) == 1
        && EVP_DigestUpdate(context, input.baseAddress, input.count) == 1
    }
    guard status else { return nil }
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Appends the digest of the beginning followed by `rest` to `digests`; `false`, and nothing appended, when
  /// out of memory.
  package func appendHash(ofPrefixAnd rest: Span<UInt8>, to digests: inout [UInt8]) -> Bool {
    guard let copy = unsafe EVP_MD_CTX_new() else { return false }
    defer { unsafe EVP_MD_CTX_free(copy) }
    let count = algorithm.byteCount
    return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer in
      let status = unsafe rest.withUnsafeBufferPointer { input in
        unsafe EVP_MD_CTX_copy_ex(copy, context) == 1
          && EVP_DigestUpdate(copy, input.baseAddress, input.count) == 1
          && EVP_DigestFinal_ex(copy, buffer.baseAddress, nil) == 1
      }
      if status { unsafe digests.append(contentsOf: buffer) }
      return status
    }
  }
}

// After its initializer it is only ever copied from.
extension PrefixDigest: @unchecked Sendable {}
