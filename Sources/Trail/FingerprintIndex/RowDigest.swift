// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// The root that the trail authenticates: the digest of the catalogue's row, or ``RowDigest/none`` without a
/// catalogue.
///
/// The catalogue contains the digests of the fence rows and of the filter rows of each run. A fence contains the
/// digest of its page's header, and the header those of the page's blocks. Every byte that is read is therefore
/// verified against the root.
package typealias IndexRoot = RowDigest

/// The SHA-256 of a row, of a part of one, or of a sequence of rows.
package struct RowDigest: Sendable, Hashable {
  /// The bytes, as big-endian numbers.
  let words: SIMD4<UInt64>

  /// A digest of nothing; no input with this digest is known.
  package static let none = RowDigest(words: .zero)
  /// The bytes of a digest.
  package static let byteCount = 32

  init(words: SIMD4<UInt64>) { self.words = words }

  init(of bytes: Span<UInt8>) { self.init(PrefixedSHA256.hash(prefix: nil, bytes)) }

  /// Reads the digest at `offset` of `row`, which must have enough bytes.
  init(in row: Span<UInt8>, at offset: Int) {
    words = SIMD4(
      row.bigEndian(at: offset), row.bigEndian(at: offset + 8), row.bigEndian(at: offset + 16),
      row.bigEndian(at: offset + 24))
  }

  /// Creates a digest from its bytes; `nil` unless there are ``byteCount``.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(in: bytes.span, at: 0)
  }

  private init(_ hash: PrefixedSHA256.Words) {
    words = SIMD4(hash.0.bigEndian, hash.1.bigEndian, hash.2.bigEndian, hash.3.bigEndian)
  }

  /// The ``byteCount`` bytes.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for word in words.numbers { bytes.append(bigEndian: word) }
    return bytes
  }

  /// Adds the next row of a sequence: SHA-256 of the current digest and the row.
  mutating func chain(_ row: [UInt8]) { self = RowDigest(PrefixedSHA256.hash(prefix: bytes.span, row.span)) }
}

extension SIMD4<UInt64> {
  var numbers: [UInt64] { [x, y, z, w] }
}
