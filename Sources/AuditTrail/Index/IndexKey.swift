// SPDX-License-Identifier: Apache-2.0

/// The secret that fingerprints are made with, so that nobody can prepare values that collide, nor tell from a
/// fingerprint alone what it is of.
package struct IndexKey: Sendable {
  /// The length of a key, in bytes.
  package static let byteCount = 16

  private let hash: SipHash

  /// A key of ``byteCount`` secret bytes; `nil` for any other count.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    var words: [UInt64] = [0, 0]
    for (offset, byte) in bytes.enumerated() { words[offset / 8] |= UInt64(byte) << UInt64(offset % 8 * 8) }
    hash = SipHash(words[0], words[1])
  }

  /// The fingerprint of `value`: the low 48 bits of SipHash-2-4 over the kind's byte and the value.
  package func fingerprint(_ kind: IndexKind, _ value: Span<UInt8>) -> UInt64 {
    hash.hash(kind.rawValue, value) & IndexRecord.fingerprintMask
  }

  /// The fingerprint of `value`.
  package func fingerprint(_ kind: IndexKind, _ value: [UInt8]) -> UInt64 { fingerprint(kind, value.span) }

  /// The fingerprint of `value` in UTF-8.
  package func fingerprint(_ kind: IndexKind, _ value: String) -> UInt64 {
    fingerprint(kind, value.utf8.span)
  }
}
