// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// Reads a property list in XML that is an array of strings.
///
/// ```
/// file   = [BOM] [ "<?xml" … "?>" ] [ "<!DOCTYPE" … ">" ] "<plist" [ version ] ">" array "</plist>"
/// array  = "<array>" *string "</array>" | "<array/>"
/// string = "<string>" text "</string>" | "<string/>"
/// text   = characters, the five entities of XML, characters by number, CDATA
/// ```
///
/// Comments and white space may stand between elements. A document type with internal declarations is refused, which
/// prevents entity expansion attacks.
///
/// Foundation's `PropertyListDecoder` reads XML recursively without a limit: a few thousand nested arrays overflow its
/// stack. It is used for binary lists only (``BinaryIdentifierList``), which it reads element by element.
struct PropertyListArrayReader {
  private let bytes: [UInt8]
  private let maximumCount: Int
  private var position = 0

  init(_ bytes: [UInt8], maximumCount: Int) {
    self.bytes = bytes
    self.maximumCount = maximumCount
  }

  mutating func strings() throws(ProductIdentifierError) -> [String] {
    try readProlog()
    try readPlistTag()
    try skipMiscellany()
    var strings: [String] = []
    if !take("<array/>") {
      guard take("<array>") else { throw other("an array", at: "$") }
      try skipMiscellany()
      while !take("</array>") {
        guard strings.count < maximumCount else {
          throw failure(.tooLarge, "The list has more than \(maximumCount) identifiers.")
        }
        strings.append(try readString(strings.count))
        try skipMiscellany()
      }
    }
    try skipMiscellany()
    guard take("</plist>") else { throw failure(.malformed, "\"</plist>\" is missing.") }
    try skipMiscellany()
    guard position == bytes.count else { throw failure(.malformed, "Something follows the property list.") }
    return strings
  }

  // MARK: Around the array

  private mutating func readProlog() throws(ProductIdentifierError) {
    _ = take("\u{FEFF}")
    guard bytes[position...].contains(where: { !Self.isSpace($0) }) else {
      throw failure(.empty, "The property list is empty.")
    }
    if take("<?xml") { try skip(past: "?>") }
    try skipMiscellany()
    if take("<!DOCTYPE") {
      let start = position
      try skip(past: ">")
      guard !bytes[start..<position].contains(UInt8(ascii: "[")) else {
        throw failure(.malformed, "A document type with declarations of its own is not allowed.")
      }
    }
    try skipMiscellany()
  }

  private mutating func readPlistTag() throws(ProductIdentifierError) {
    guard take("<plist") else { throw failure(.malformed, "The file is no property list in XML.") }
    let start = position
    try skip(past: ">")
    let attributes = String(decoding: bytes[start..<position - 1], as: UTF8.self).split { $0.isWhitespace }
    guard attributes.isEmpty || attributes == ["version=\"1.0\""] else {
      throw failure(.malformed, "The property list is not of the version 1.0.")
    }
  }

  // MARK: Strings

  private mutating func readString(_ index: Int) throws(ProductIdentifierError) -> String {
    if take("<string/>") { return "" }
    guard take("<string>") else { throw other("a string", at: "$[\(index)]") }
    var text: [UInt8] = []
    let start = position
    while !take("</string>") {
      guard position < bytes.count else { throw truncated() }
      switch bytes[position] {
      case UInt8(ascii: "&"): text += try readReference()
      case UInt8(ascii: "<"):
        if take("<![CDATA[") {
          let start = position
          try skip(past: "]]>")
          text += bytes[start..<position - 3]
        } else {
          try readComment()
        }
      default:
        text.append(bytes[position])
        position += 1
      }
    }
    guard let string = UTF8Text.string(text) else {
      throw failure(.malformed, at: start, "The string is not valid UTF-8.")
    }
    return string
  }

  private mutating func readReference() throws(ProductIdentifierError) -> [UInt8] {
    let start = position
    for (name, character) in Self.entities where take(name) { return [UInt8(ascii: character)] }
    let end = bytes[position...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
    guard take("&#"), let end else { throw failure(.malformed, at: start, "There is no such entity in XML.") }
    var digits = String(decoding: bytes[position..<end], as: UTF8.self)[...]
    let isHexadecimal = digits.hasPrefix("x")
    if isHexadecimal { digits = digits.dropFirst() }
    // `UInt32` would also accept a sign.
    guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
      let scalar = UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init),
      scalar.value >= 0x20 || [0x9, 0xA, 0xD].contains(scalar.value)
    else { throw failure(.malformed, at: start, "There is no such character in XML.") }
    position = end + 1
    return Array(String(scalar).utf8)
  }

  private static let entities: [(name: String, character: Unicode.Scalar)] = [
    ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
  ]

  // MARK: Text

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

  /// Skips white space and comments.
  private mutating func skipMiscellany() throws(ProductIdentifierError) {
    while true {
      while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
      guard starts(with: "<!--") else { return }
      try readComment()
    }
  }

  private mutating func readComment() throws(ProductIdentifierError) {
    guard take("<!--") else { throw failure(.malformed, "Expected the end of a string.") }
    try skip(past: "-->")
  }

  private func starts(with text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  private mutating func take(_ text: String) -> Bool {
    guard starts(with: text) else { return false }
    position += text.utf8.count
    return true
  }

  private mutating func skip(past text: String) throws(ProductIdentifierError) {
    while position < bytes.count {
      if take(text) { return }
      position += 1
    }
    throw truncated()
  }

  // MARK: Errors

  private func truncated() -> ProductIdentifierError {
    failure(.malformed, at: bytes.count, "The property list ends in the middle.")
  }

  private func failure(
    _ code: ProductIdentifierError.Code, at offset: Int? = nil, _ message: String
  ) -> ProductIdentifierError {
    ProductIdentifierError(code, at: "byte \(offset ?? position)", message)
  }

  /// The error for text or another element in place of the expected one.
  private func other(_ expected: String, at path: String) -> ProductIdentifierError {
    guard position < bytes.count else { return truncated() }
    if bytes[position] == UInt8(ascii: "<"), !bytes[position...].contains(UInt8(ascii: ">")) {
      return truncated()
    }
    guard bytes[position] == UInt8(ascii: "<"), position + 1 < bytes.count,
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= bytes[position + 1]
    else { return failure(.malformed, "Expected \(expected).") }
    return ProductIdentifierError(
      .wrongType, at: path, "A list of product identifiers is an array of strings; here is something else.")
  }
}
