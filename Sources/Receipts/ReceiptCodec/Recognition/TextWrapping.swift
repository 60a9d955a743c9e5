// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Unwraps a receipt in text other than JSON and base64. Each form has exactly one interpretation. Text that could have
/// two is not unwrapped, and the receipt's parser rejects it.
///
/// | Text | Source |
/// |---|---|
/// | `Bearer eyJ…` | an HTTP header |
/// | `data:application/octet-stream;base64,MII…` | a web view (RFC 2397) |
/// | `-----BEGIN PKCS7-----` … `-----END PKCS7-----` | openssl (RFC 7468) |
/// | `<308213de 06092a86 …>` | the description of an `NSData` |
/// | `MII…%2B…%3D` | a form or a query (RFC 3986 section 2.1) |
enum TextWrapping {
  /// The unwrapped content.
  enum Content {
    /// Text without surrounding white space.
    case text([UInt8])
    /// Bytes that were written as digits.
    case bytes([UInt8])
  }

  /// The maximum number of layers around a receipt, base64 inside base64 included. More layers do not occur by
  /// accident.
  static let maximumLayers = 3

  /// Returns the content of text that begins like one of the forms; `nil` for any other text.
  static func content(of text: [UInt8]) throws(MalformedReceipt) -> Content? {
    switch text.first {
    case UInt8(ascii: "B"), UInt8(ascii: "b"): bearerToken(text).map { .text($0) }
    case UInt8(ascii: "D"), UInt8(ascii: "d"): try dataURI(text).map { .text($0) }
    case UInt8(ascii: "-"): try pem(text).map { .text($0) }
    case UInt8(ascii: "<"): hexadecimal(text).map { .bytes($0) }
    case UInt8(ascii: "%"): try percentDecoded(text).map { .text($0) }
    case UInt8(ascii: "{") where text.starts(with: "{length = ".utf8):
      throw MalformedReceipt(
        .truncated, at: .whole,
        "This is the description of an NSData, which leaves out all but its ends. Pass the bytes in base64 "
          + "(base64EncodedStringWithOptions:).")
    default: nil
    }
  }

  // MARK: Forms

  private static func bearerToken(_ text: [UInt8]) -> [UInt8]? {
    for prefix in ["bearer ", "bearer%20"] where begins(text, with: prefix) {
      return ReceiptText.trimming(Array(text.dropFirst(prefix.utf8.count)))
    }
    return nil
  }

  private static func dataURI(_ text: [UInt8]) throws(MalformedReceipt) -> [UInt8]? {
    guard begins(text, with: "data:") else { return nil }
    guard let comma = ByteSearch.firstIndex(of: UInt8(ascii: ","), in: text.span) else {
      throw MalformedReceipt(
        .truncated, at: .byteOffset(text.count, within: "data URI"),
        "The data URI has no comma, after which the receipt would follow.")
    }
    let content = ReceiptText.trimming(Array(text[(comma + 1)...]))
    return try percentDecoded(content) ?? content
  }

  /// Returns the base64 between the BEGIN and END lines of a single block.
  private static func pem(_ text: [UInt8]) throws(MalformedReceipt) -> [UInt8]? {
    guard text.starts(with: pemBegin) else { return nil }
    func malformed(_ message: String) -> MalformedReceipt {
      MalformedReceipt(.invalidValue, at: .byteOffset(0, within: "PEM block"), message)
    }
    guard let lineEnd = text.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else {
      throw malformed("The PEM block has no lines; they were joined. Pass it with its line breaks.")
    }
    var label = text[pemBegin.count..<lineEnd]
    while let last = label.last, ReceiptText.isWhiteSpace(last) { label.removeLast() }
    let end = pemEnd + label
    guard label.count >= pemDashes.count, label.suffix(pemDashes.count).elementsEqual(pemDashes),
      text.count >= lineEnd + end.count, text.suffix(end.count).elementsEqual(end)
    else {
      throw malformed("The PEM block does not end with the END line of its BEGIN line. Pass one whole block.")
    }
    return ReceiptText.trimming(Array(text[lineEnd..<(text.count - end.count)]))
  }

  private static let pemBegin = Array("-----BEGIN ".utf8)
  private static let pemEnd = Array("-----END ".utf8)
  private static let pemDashes = Array("-----".utf8)

  /// Decodes hexadecimal digits between angle brackets; returns `nil` for any other content.
  private static func hexadecimal(_ text: [UInt8]) -> [UInt8]? {
    guard text.count > 2, text.last == UInt8(ascii: ">") else { return nil }
    let digits = text[1..<(text.count - 1)].filter { !ReceiptText.isWhiteSpace($0) }
    return Hexadecimal.decode(String(decoding: digits, as: UTF8.self))
  }

  // MARK: Percent-encoding

  /// Returns the text with each `%XX` decoded; `nil` if there is no percent sign. A plus sign is not decoded as a
  /// space, because base64 has no spaces.
  static func percentDecoded(_ text: [UInt8]) throws(MalformedReceipt) -> [UInt8]? {
    guard let first = ByteSearch.firstIndex(of: UInt8(ascii: "%"), in: text.span) else { return nil }
    var decoded = Array(text[..<first])
    decoded.reserveCapacity(text.count)
    var index = first
    while index < text.count {
      guard text[index] == UInt8(ascii: "%") else {
        decoded.append(text[index])
        index += 1
        continue
      }
      guard index + 2 < text.count, let high = Hexadecimal.value(text[index + 1]),
        let low = Hexadecimal.value(text[index + 2])
      else {
        throw MalformedReceipt(
          .invalidValue, at: .byteOffset(index, within: "percent-encoded text"),
          "A percent sign stands without two hexadecimal digits after it: the percent-encoding was damaged or cut short."
        )
      }
      decoded.append(high << 4 | low)
      index += 3
    }
    return ReceiptText.trimming(decoded)
  }

  // MARK: Damage

  /// Diagnoses the damage to invalid base64; returns `nil` if the cause is unknown.
  static func damage(toBase64 text: [UInt8]) -> MalformedReceipt? {
    var space: Int?
    var plus = false
    var isHexadecimal = true
    for (index, byte) in text.enumerated() {
      if byte == UInt8(ascii: "+") { plus = true }
      if space == nil, byte == 0x20, index > 0, index + 1 < text.count,
        !ReceiptText.isWhiteSpace(text[index - 1]), !ReceiptText.isWhiteSpace(text[index + 1])
      {
        space = index
      }
      isHexadecimal = isHexadecimal && Hexadecimal.value(byte) != nil
    }
    if isHexadecimal, text.starts(with: "3082".utf8) || text.starts(with: "3080".utf8) {
      return MalformedReceipt(
        .unrecognized, at: .byteOffset(0, within: "input"),
        "This is hexadecimal. Pass the receipt in base64, in binary, or its hexadecimal in angle brackets.")
    }
    guard let space, !plus else { return nil }
    return MalformedReceipt(
      .invalidBase64, at: .byteOffset(space, within: "base64 text"),
      "A space stands in the base64 where \"+\" belongs: it passed through a form or a URL in which \"+\" was not written "
        + "%2B. Which spaces were \"+\" cannot be told for certain. Send the receipt percent-encoded, in JSON, or in base64url."
    )
  }

  /// Returns `true` if a text begins with an ASCII prefix, ignoring case.
  private static func begins(_ text: [UInt8], with prefix: String) -> Bool {
    text.count >= prefix.utf8.count && zip(text, prefix.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
  }
}
