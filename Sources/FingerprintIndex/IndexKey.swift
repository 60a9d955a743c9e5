// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// The secret that fingerprints are made with, so that nobody can prepare values that collide, nor tell from a
/// fingerprint alone what it is of.
package struct IndexKey: Sendable {
  /// The length of a key, in bytes.
  package static let byteCount = 16

  /// For each kind, its byte and the key.
  private let prefixes: [[UInt8]]

  /// A key of ``byteCount`` secret bytes; `nil` for any other count.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    prefixes = IndexKind.allCases.map { [$0.rawValue] + bytes }
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
    let prefix = prefixes[Int(kind.rawValue)]
    let words = PrefixedSHA256.hash(prefix: prefix.span, value)
    return (UInt64(bigEndian: words.0) >> 16, UInt32(truncatingIfNeeded: words.1))
  }
}
