// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
