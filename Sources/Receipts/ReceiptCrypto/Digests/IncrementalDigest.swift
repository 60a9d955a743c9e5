// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Hashes bytes that arrive in chunks.
@safe
package struct IncrementalDigest: ~Copyable {
  private let context: OpaquePointer
  private let algorithm: DigestAlgorithm

  package init(_ algorithm: DigestAlgorithm) {
    guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    unsafe self.context = context
    self.algorithm = algorithm
    let status = unsafe EVP_DigestInit_ex(context, algorithm.implementation, nil)
    precondition(status == 1, "libcrypto could not start \(algorithm)")
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  /// Appends `bytes` to the message.
  package mutating func update(_ bytes: Span<UInt8>) {
    let status = unsafe bytes.withUnsafeBufferPointer { input in
      unsafe EVP_DigestUpdate(context, input.baseAddress, input.count)
    }
    precondition(status == 1, "libcrypto could not continue \(algorithm)")
  }

  package mutating func update(_ bytes: [UInt8]) { update(bytes.span) }

  /// Ends the message and returns its digest.
  package consuming func finalize() -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
      let status = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      precondition(status == 1, "libcrypto could not end \(algorithm)")
      count = algorithm.byteCount
    }
  }
}

// The context has a single owner, and moves between threads only together with it.
extension IncrementalDigest: @unchecked Sendable {}
