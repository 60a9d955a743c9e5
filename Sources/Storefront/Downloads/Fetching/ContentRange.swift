// SPDX-License-Identifier: Apache-2.0

/// The range that a 206 response contains (`Content-Range`, RFC 9110 section 14.4): `bytes 0-99/1234`.
struct ContentRange: Sendable, Hashable {
  let first: Int64
  let last: Int64
  /// The length of the whole; `nil` for `*`, which means unknown.
  let total: Int64?

  /// - Returns: `nil` for any other text, for `*/1234`, which has no range, and for a range that ends before it begins
  ///   or exceeds the length.
  init?(_ header: String) {
    let words = header.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let halves = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last
    else { return nil }
    if halves[1] == "*" {
      total = nil
    } else {
      guard let whole = Self.number(halves[1]), last < whole else { return nil }
      total = whole
    }
    self.first = first
    self.last = last
  }

  var count: Int64 { last - first + 1 }

  /// Reads digits only: `Int64` would also accept a sign.
  private static func number(_ text: Substring) -> Int64? {
    guard 1...18 ~= text.utf8.count, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return nil }
    return Int64(text)
  }
}
