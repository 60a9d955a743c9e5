// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// The secret that fingerprints are made with, so that nobody can prepare values that collide, nor tell from a
/// fingerprint alone what it is of.
package struct IndexKey: Sendable {
  /// The length of a key, in bytes.
  package static let byteCount = 16
  /// The length of a fingerprint, in bits.
  package static let fingerprintBits = 48

  /// The bytes as they lie in memory: of an array, all processors would count their references.
  private let words: (UInt64, UInt64)
  /// The bits of the hash that a fingerprint leaves out.
  private let unused: UInt64

  /// A key of ``byteCount`` secret bytes; `nil` for any other count.
  package init?(_ bytes: [UInt8]) { self.init(bytes, fingerprintBits: Self.fingerprintBits) }

  /// A key whose fingerprints are shorter, so that different values have the same one: for tests.
  package init?(_ bytes: [UInt8], fingerprintBits: Int) {
    guard 1...Self.fingerprintBits ~= fingerprintBits else { return nil }
    unused = UInt64(64 - fingerprintBits)
    guard bytes.count == Self.byteCount else { return nil }
    let span = bytes.span
    words = ((span.bigEndian(at: 0) as UInt64).bigEndian, (span.bigEndian(at: 8) as UInt64).bigEndian)
  }

  /// The fingerprint of `value`: the first 48 bits of SHA-256 over the kind's byte, the key and the value.
  package func fingerprint(_ kind: IndexKind, _ value: Span<UInt8>) -> UInt64 {
    checkedFingerprint(kind, value).fingerprint
  }

  /// The fingerprint of `value`.
  package func fingerprint(_ kind: IndexKind, _ value: [UInt8]) -> UInt64 { fingerprint(kind, value.span) }

  /// The fingerprint of `value` in UTF-8.
  package func fingerprint(_ kind: IndexKind, _ value: String) -> UInt64 {
    fingerprint(kind, value.utf8.span)
  }

  /// The fingerprint of `value`, and its check: 32 bits more of the same hash.
  package func checkedFingerprint(
    _ kind: IndexKind, _ value: Span<UInt8>
  ) -> (fingerprint: UInt64, check: UInt32) {
    // The last byte of the first word is the kind's.
    let prefix = (UInt64(kind.rawValue).bigEndian, words.0, words.1)
    let hash = unsafe withUnsafeBytes(of: prefix) { bytes in
      unsafe bytes.withMemoryRebound(to: UInt8.self) { bytes in
        PrefixedSHA256.hash(prefix: unsafe bytes.span.extracting(7..<24), value)
      }
    }
    return (UInt64(bigEndian: hash.0) &>> unused, UInt32(truncatingIfNeeded: hash.1))
  }
}
