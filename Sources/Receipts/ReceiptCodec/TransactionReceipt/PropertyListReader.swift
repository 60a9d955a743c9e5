// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A reader of the text of a ``PropertyList``.
///
/// ```
/// list   = "{" *( string "=" string ";" ) "}"
/// string = quoted / 1*( ALPHA / DIGIT / "_" / "$" / "/" / ":" / "." / "-" )
/// ```
struct PropertyListReader {
  private var position = 0
  private let part: String

  init(part: String) { self.part = part }

  mutating func readDictionary(
    maximumCount: Int, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) -> [PropertyList.Entry] {
    try skipWhiteSpace(bytes)
    guard position < bytes.count else {
      throw MalformedReceipt(.empty, at: .whole, "The property list is empty.")
    }
    try expect(UInt8(ascii: "{"), bytes)
    var entries: [PropertyList.Entry] = []
    var keys = SeenKeys()
    while true {
      try skipWhiteSpace(bytes)
      if position < bytes.count, bytes[position] == UInt8(ascii: "}") { break }
      guard entries.count < maximumCount else {
        throw failure(.tooLarge, "There are more entries than the limit of \(maximumCount).")
      }
      let key = try readString(bytes)
      guard keys.insert(key, after: entries) else {
        throw MalformedReceipt(.duplicate, at: .propertyListKey(key), "The key occurs twice.")
      }
      try skipWhiteSpace(bytes)
      try expect(UInt8(ascii: "="), bytes)
      try skipWhiteSpace(bytes)
      let value = try readString(bytes)
      try skipWhiteSpace(bytes)
      try expect(UInt8(ascii: ";"), bytes)
      entries.append(PropertyList.Entry(key: key, value: value))
    }
    position += 1
    try skipWhiteSpace(bytes)
    guard position == bytes.count else {
      throw failure(.trailingData, "Something follows the closing brace.")
    }
    return entries
  }

  private mutating func skipWhiteSpace(_ bytes: Span<UInt8>) throws(MalformedReceipt) {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      case UInt8(ascii: "/")
      where position + 1 < bytes.count
        && (bytes[position + 1] == UInt8(ascii: "/") || bytes[position + 1] == UInt8(ascii: "*")):
        throw failure(.unsupported, "Comments are not allowed in a receipt.")
      default: return
      }
    }
  }

  private mutating func expect(_ byte: UInt8, _ bytes: Span<UInt8>) throws(MalformedReceipt) {
    guard position < bytes.count else { throw truncated() }
    guard bytes[position] == byte else {
      throw failure(
        .unexpected,
        "Expected \(Character(Unicode.Scalar(byte))), found byte \(hexadecimal: bytes[position]).")
    }
    position += 1
  }

  private mutating func readString(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    guard position < bytes.count else { throw truncated() }
    switch bytes[position] {
    case UInt8(ascii: "\""): return try readQuoted(bytes)
    case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "<"):
      throw failure(.unsupported, "Only strings are allowed in a receipt's property list.")
    default: return try readBare(bytes)
    }
  }

  private mutating func readBare(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    let start = position
    while position < bytes.count, Self.isBare(bytes[position]) { position += 1 }
    guard position > start else {
      throw failure(.unexpected, "Expected a string, found byte \(hexadecimal: bytes[position]).")
    }
    return UTF8Text.string(bytes.extracting(start..<position)) ?? ""
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"),
      UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private mutating func readQuoted(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    position += 1
    let start = position
    // Nearly all strings have no escapes and are copied at once; the others are joined from segments.
    var text = ""
    var pieceStart = start
    while true {
      position = JSONScan.endOfPlainText(bytes, from: position)
      guard position < bytes.count else { throw truncated() }
      switch bytes[position] {
      case UInt8(ascii: "\""):
        let last = try piece(pieceStart..<position, bytes)
        position += 1
        return pieceStart == start ? last : text + last
      case UInt8(ascii: "\\"):
        text += try piece(pieceStart..<position, bytes)
        text.unicodeScalars.append(try readEscape(bytes))
        pieceStart = position
      case 0x09, 0x0A, 0x0D: position += 1
      default:
        throw failure(.unexpected, "A string has the control byte \(hexadecimal: bytes[position]).")
      }
    }
  }

  private func piece(_ range: Range<Int>, _ bytes: Span<UInt8>) throws(MalformedReceipt) -> String {
    let piece = bytes.extracting(range)
    guard let text = UTF8Text.string(piece) else {
      let offset = range.lowerBound + (UTF8Text.firstInvalidByte(piece) ?? 0)
      throw MalformedReceipt(
        .invalidUTF8, at: .byteOffset(offset, within: part), "A string is not valid UTF-8.")
    }
    return text
  }

  private mutating func readEscape(_ bytes: Span<UInt8>) throws(MalformedReceipt) -> Unicode.Scalar {
    let start = position
    position += 1
    guard position < bytes.count else { throw truncated() }
    let symbol = bytes[position]
    position += 1
    switch symbol {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "'"): return Unicode.Scalar(symbol)
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "a"): return "\u{07}"
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "v"): return "\u{0B}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "U"): return try readUnicodeEscape(startingAt: start, bytes)
    case UInt8(ascii: "0")...UInt8(ascii: "7"): return try readOctalEscape(startingAt: start, bytes)
    default:
      throw invalidEscape(at: start)
    }
  }

  /// Reads `\Uxxxx`, a UTF-16 code unit, or a pair of them for a scalar above U+FFFF.
  private mutating func readUnicodeEscape(
    startingAt start: Int, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) -> Unicode.Scalar {
    let unit = try readCodeUnit(startingAt: start, bytes)
    guard UTF16.isLeadSurrogate(unit) else {
      guard let scalar = Unicode.Scalar(unit) else { throw invalidEscape(at: start) }
      return scalar
    }
    guard position + 2 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
      bytes[position + 1] == UInt8(ascii: "U")
    else { throw invalidEscape(at: start) }
    position += 2
    let trail = try readCodeUnit(startingAt: start, bytes)
    guard UTF16.isTrailSurrogate(trail) else { throw invalidEscape(at: start) }
    return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
  }

  private mutating func readCodeUnit(
    startingAt start: Int, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard position < bytes.count else { throw truncated() }
      guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
        throw invalidEscape(at: start)
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }

  /// Reads one to three octal digits. Values above ASCII are rejected: they mean NeXTSTEP's own encoding, which no
  /// receipt uses.
  private mutating func readOctalEscape(
    startingAt start: Int, _ bytes: Span<UInt8>
  ) throws(MalformedReceipt) -> Unicode.Scalar {
    position -= 1
    var value: UInt32 = 0
    for _ in 0..<3 {
      guard position < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "7") ~= bytes[position] else { break }
      value = value << 3 | UInt32(bytes[position] - UInt8(ascii: "0"))
      position += 1
    }
    guard value < 0x80, let scalar = Unicode.Scalar(value) else {
      throw MalformedReceipt(
        .unsupported, at: .byteOffset(start, within: part),
        "An octal escape beyond \\177 is in NeXTSTEP encoding; write \\U and four hexadecimal digits.")
    }
    return scalar
  }

  private func truncated() -> MalformedReceipt {
    failure(.truncated, "The property list ends before its closing brace.")
  }

  private func invalidEscape(at offset: Int) -> MalformedReceipt {
    MalformedReceipt(
      .invalidValue, at: .byteOffset(offset, within: part), "A string has an escape that does not exist.")
  }

  private func failure(_ code: MalformedReceipt.Code, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .byteOffset(position, within: part), message)
  }
}

/// The keys already read, to reject duplicates. A receipt has so few keys that comparing them is faster than hashing.
/// Above `fewest` keys it hashes, so that the time does not grow quadratically.
private struct SeenKeys {
  private static let fewest = 32
  private var keys: Set<String> = []

  /// Inserts a key that follows `entries`; returns `true` if it was not in the set.
  mutating func insert(_ key: String, after entries: [PropertyList.Entry]) -> Bool {
    if entries.count < Self.fewest { return !entries.contains { $0.key == key } }
    if keys.isEmpty { keys = Set(entries.map(\.key)) }
    return keys.insert(key).inserted
  }
}
