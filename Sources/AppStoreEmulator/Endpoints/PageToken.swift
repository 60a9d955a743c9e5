// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// An opaque `revision` or `paginationToken`: how far a list was read, and under which question. Clients must
/// not look into it, so it is not readable at a glance.
struct PageToken: Hashable {
  static let pageSize = 20

  /// The place of the last element that was read; what it counts is the list's affair.
  var position: Int64
  /// When it was given out.
  var issued: Timestamp

  /// The token as text. `question` is the endpoint and the filters: a token goes on with the same question alone.
  func text(question: [String]) -> String {
    var bytes = Self.digest(question)
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: position >> shift))
    }
    let seconds = Int64(issued.wholeMilliseconds / 1000)
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: seconds >> shift))
    }
    return Base64URL.encodeToString(bytes)
  }

  init(position: Int64, issued: Timestamp) {
    self.position = position
    self.issued = issued
  }

  /// `nil` for what was not given out for this question.
  init?(_ text: String, question: [String]) {
    guard text.utf8.count == 32, let bytes = try? Base64URL.decode(Array(text.utf8)), bytes.count == 24,
      Array(bytes[..<8]) == Self.digest(question)
    else { return nil }
    func integer(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 << 8 | Int64($1) } }
    self.position = integer(8..<16)
    self.issued = Timestamp(secondsSince1970: integer(16..<24))
  }

  private static func digest(_ question: [String]) -> [UInt8] {
    // A separator that no filter contains keeps ["ab", "c"] and ["a", "bc"] apart.
    Array(Digest.hash(Array(question.joined(separator: "\u{0}").utf8), using: .sha256).prefix(8))
  }
}
