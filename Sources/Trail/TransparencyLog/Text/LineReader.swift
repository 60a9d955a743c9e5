// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// Reads text line by line. Every line must end in a newline.
struct LineReader {
  private(set) var remainder: ArraySlice<UInt8>
  /// The number of lines read so far, which is the number of the last line counted from 1.
  private(set) var lineNumber: Int

  init(_ text: ArraySlice<UInt8>, linesBefore: Int = 0) {
    remainder = text
    lineNumber = linesBefore
  }

  /// The place of the line that was read last.
  var place: LogFormatError.Place { .line(lineNumber) }

  /// The next line without its newline; `nil` at the end.
  mutating func next() throws(LogFormatError) -> ArraySlice<UInt8>? {
    guard !remainder.isEmpty else { return nil }
    lineNumber += 1
    guard let end = remainder.firstIndex(of: ASCII.newline) else {
      throw LogFormatError(.truncated, place, "the line does not end in a newline")
    }
    let line = remainder[..<end]
    remainder = remainder[(end + 1)...]
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

extension LineReader {
  /// Parses the number after a keyword in the line that was read last, which has the form `KEYWORD NUMBER`.
  func number(in line: ArraySlice<UInt8>, after form: (keyword: String, number: String), _ what: String)
    throws(LogFormatError) -> UInt64
  {
    guard let text = ASCII.rest(of: line, after: form.keyword + " ") else {
      throw LogFormatError(.unexpectedLine, place, "expected \"\(form.keyword) \(form.number)\"")
    }
    guard let number = ASCII.decimal(text) else {
      throw LogFormatError(.malformedNumber, place, "expected \(what) in decimal")
    }
    return number
  }

  func checkpoint() throws(LogFormatError) -> SignedCheckpoint {
    do throws(LogFormatError) { return try SignedCheckpoint(parsing: remainder) } catch {
      throw error.offset(byLines: lineNumber)
    }
  }
}

extension [String] {
  /// The lines in UTF-8, each with its newline.
  var encodedLines: [UInt8] { flatMap { [UInt8]($0.utf8) + [ASCII.newline] } }
}

enum ASCII {
  static let newline = UInt8(ascii: "\n")
  static let space = UInt8(ascii: " ")
  static let plus = UInt8(ascii: "+")

  /// Parses a decimal number without a sign or leading zeros; `nil` for anything else or a value beyond 2^64 - 1.
  static func decimal(_ text: ArraySlice<UInt8>) -> UInt64? {
    guard let first = text.first, text.count <= 20, text.count == 1 || first != UInt8(ascii: "0"),
      text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return nil }
    return UInt64(String(decoding: text, as: UTF8.self))
  }

  /// The text after `prefix`; `nil` if `line` does not begin with it.
  static func rest(of line: ArraySlice<UInt8>, after prefix: String) -> ArraySlice<UInt8>? {
    line.starts(with: prefix.utf8) ? line.dropFirst(prefix.utf8.count) : nil
  }
}

extension LogFormatError: Error, CustomStringConvertible {
  /// The position of the error.
  public enum Place: Sendable, Hashable {
    /// A line, counted from 1.
    case line(Int)
    /// An offset in bytes, counted from 0.
    case byte(Int)
    /// No position, because the input is not encoded text.
    case none
  }

  /// The code, the place and the message, on one line.
  public var description: String {
    switch place {
    case .line(let line): "\(code.rawValue) in line \(line): \(message)"
    case .byte(let offset): "\(code.rawValue) at byte \(offset): \(message)"
    case .none: "\(code.rawValue): \(message)"
    }
  }

  /// The same error with its line number increased by `lines`, for a part of a larger text.
  func offset(byLines lines: Int) -> LogFormatError {
    guard case .line(let line) = place else { return self }
    return LogFormatError(code, .line(line + lines), message)
  }
}
