// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// An opaque `revision` or `paginationToken`: a position in a list, bound to its query. It is not human-readable,
/// because clients must not interpret it.
struct PageToken: Hashable {
  static let pageSize = 20

  /// The position of the last element that was read. Each list defines its meaning.
  var position: Int64
  var issued: Timestamp

  /// The token as text. `query` is the endpoint with its filters. The token is valid only for the same query.
  func text(query: [String]) -> String {
    var bytes = Self.digest(query)
    for number in [position, Int64(issued.wholeMilliseconds / 1000)] {
      bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    return Base64URL.encodeToString(bytes)
  }

  init(position: Int64, issued: Timestamp) {
    self.position = position
    self.issued = issued
  }

  /// Reads a token; `nil` if it was not issued for this query.
  init?(_ text: String, query: [String]) {
    guard text.utf8.count == 32, let bytes = try? Base64URL.decode(Array(text.utf8)), bytes.count == 24,
      Array(bytes[..<8]) == Self.digest(query)
    else { return nil }
    func integer(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 << 8 | Int64($1) } }
    self.position = integer(8..<16)
    self.issued = Timestamp(secondsSince1970: integer(16..<24))
  }

  private static func digest(_ query: [String]) -> [UInt8] {
    // No filter contains the separator, so ["ab", "c"] and ["a", "bc"] differ.
    Array(Digest.hash(Array(query.joined(separator: "\u{0}").utf8), using: .sha256).prefix(8))
  }
}
