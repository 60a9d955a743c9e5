// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Reads text line by line. Every line must end in a newline.
struct LineReader {
  private var rest: ArraySlice<UInt8>
  /// The number of lines read so far, which is the number of the last line counted from 1.
  private(set) var lineNumber: Int

  init(_ text: ArraySlice<UInt8>, linesBefore: Int = 0) {
    rest = text
    lineNumber = linesBefore
  }

  /// The text that has not been read yet.
  var remainder: ArraySlice<UInt8> { rest }

  /// The place of the line that was read last.
  var place: LogFormatError.Place { .line(lineNumber) }

  /// The next line without its newline; `nil` at the end.
  mutating func next() throws(LogFormatError) -> ArraySlice<UInt8>? {
    guard !rest.isEmpty else { return nil }
    lineNumber += 1
    guard let end = rest.firstIndex(of: ASCII.newline) else {
      throw LogFormatError(.truncated, place, "the line does not end in a newline")
    }
    let line = rest[..<end]
    rest = rest[(end + 1)...]
    return line
  }

  /// Reads the next line, and throws at the end of the text.
  mutating func line(_ what: String) throws(LogFormatError) -> ArraySlice<UInt8> {
    guard let line = try next() else {
      throw LogFormatError(.truncated, .line(lineNumber + 1), "expected \(what), found the end")
    }
    return line
  }

  /// Reads hashes, one a line, up to and including an empty line.
  mutating func hashes(atMost maximum: Int) throws(LogFormatError) -> [TreeHash] {
    var hashes: [TreeHash] = []
    while true {
      let line = try line("a hash or an empty line")
      if line.isEmpty { return hashes }
      guard let hash = TreeHash(base64: line) else {
        throw LogFormatError(.malformedHash, place, "expected a hash in base64, or an empty line")
      }
      guard hashes.count < maximum else {
        throw LogFormatError(.tooMany, place, "more than \(maximum) hashes")
      }
      hashes.append(hash)
    }
  }
}

enum ASCII {
  static let newline = UInt8(ascii: "\n")
  static let space = UInt8(ascii: " ")
  static let plus = UInt8(ascii: "+")

  /// Parses a decimal number without a sign or leading zeros; `nil` for anything else or a value beyond 2^64 - 1.
  static func decimal(_ text: ArraySlice<UInt8>) -> UInt64? {
    guard let first = text.first, text.count <= 20, text.count == 1 || first != UInt8(ascii: "0") else {
      return nil
    }
    var value: UInt64 = 0
    for character in text {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(character) else { return nil }
      let (product, productOverflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, sumOverflow) = product.addingReportingOverflow(UInt64(character - UInt8(ascii: "0")))
      guard !productOverflow, !sumOverflow else { return nil }
      value = sum
    }
    return value
  }

  /// The text after `prefix`; `nil` if `line` does not begin with it.
  static func rest(of line: ArraySlice<UInt8>, after prefix: String) -> ArraySlice<UInt8>? {
    line.starts(with: prefix.utf8) ? line.dropFirst(prefix.utf8.count) : nil
  }
}
