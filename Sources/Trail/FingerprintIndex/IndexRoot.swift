// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// The root that the trail authenticates: the digest of the catalogue's row, or ``SHA256Digest/zero`` without a
/// catalogue.
///
/// The catalogue contains the digests of the fence rows and of the filter rows of each run. A fence contains the
/// digest of its page's header, and the header those of the page's blocks. Every byte that is read is therefore
/// verified against the root.
package typealias IndexRoot = SHA256Digest

extension SHA256Digest {
  /// The digest of rows that do not exist; no input with this digest is known.
  package static let zero = SHA256Digest(words: (0, 0, 0, 0))

  /// Reads the digest at `offset` of `row`, which must have enough bytes.
  init(in row: Span<UInt8>, at offset: Int) {
    self.init(
      words: (
        row.bigEndian(at: offset), row.bigEndian(at: offset + 8), row.bigEndian(at: offset + 16),
        row.bigEndian(at: offset + 24)
      ))
  }

  /// The bytes, as big-endian numbers.
  var numbers: [UInt64] { [words.0, words.1, words.2, words.3] }

  /// Adds the next row of a sequence: SHA-256 of the current digest and the row.
  mutating func chain(_ row: [UInt8]) {
    self = SHA256Digest(inMemory: withBytes { PrefixedSHA256.hash(prefix: $0, row.span) })
  }
}
