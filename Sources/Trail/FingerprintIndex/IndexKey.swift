// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// The secret key of fingerprints. Without it, nobody can prepare colliding values or find the value of a fingerprint.
package struct IndexKey: Sendable {
  package static let byteCount = 16
  package static let fingerprintBits = 48

  /// The bytes in memory order. In an array, all processors would contend for its reference count.
  private let words: (UInt64, UInt64)
  /// The number of low-order bits of the hash that a fingerprint drops.
  private let unused: UInt64

  /// Creates a key from ``byteCount`` secret bytes; `nil` for any other count. With shorter fingerprints, tests can
  /// make different values collide.
  package init?(_ bytes: [UInt8], fingerprintBits: Int = IndexKey.fingerprintBits) {
    guard 1...Self.fingerprintBits ~= fingerprintBits, bytes.count == Self.byteCount else { return nil }
    unused = UInt64(64 - fingerprintBits)
    let span = bytes.span
    words = ((span.bigEndian(at: 0) as UInt64).bigEndian, (span.bigEndian(at: 8) as UInt64).bigEndian)
  }

  /// The fingerprint of `value`: the first 48 bits of SHA-256 over the kind's byte, the key and the value.
  package func fingerprint(_ kind: IndexKind, _ value: Span<UInt8>) -> UInt64 {
    checkedFingerprint(kind, value).fingerprint
  }

  package func fingerprint(_ kind: IndexKind, _ value: [UInt8]) -> UInt64 { fingerprint(kind, value.span) }

  /// The fingerprint of `value` and its check: 32 further bits of the same hash.
  package func checkedFingerprint(
    _ kind: IndexKind, _ value: Span<UInt8>
  ) -> (fingerprint: UInt64, check: UInt32) {
    // The kind is the last byte of the first word, so the hash starts at byte 7.
    let prefix = (UInt64(kind.rawValue).bigEndian, words.0, words.1)
    let hash = unsafe withUnsafeBytes(of: prefix) { bytes in
      unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
        PrefixedSHA256.hash(prefix: unsafe bytes.span.extracting(7..<24), value)
      }
    }
    return (UInt64(bigEndian: hash.0) &>> unused, UInt32(truncatingIfNeeded: hash.1))
  }
}
