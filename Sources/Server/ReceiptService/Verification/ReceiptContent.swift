// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes

  /// Checks that the body of a request is the unencoded receipt.
  ///
  /// Otherwise a compressed receipt, or one in a form, would be recorded as malformed although the receipt itself is
  /// correct.
  enum ReceiptContent {
    /// The maximum length of a field name by which a form is recognized; receipts in base64 have no `=` within it.
    private static let maximumNameByteCount = 64

    /// The reason to refuse a request because of its header; `nil` if it is accepted.
    static func problem(_ fields: HTTPFields) -> Problem? {
      // RFC 9110 section 8.4: `identity` means no coding, and a server answers 415 if it does not support a coding.
      if let coding = fields[.contentEncoding]?.trimmed, !coding.isEmpty, coding.lowercased() != "identity" {
        return refusal("The body has a Content-Encoding. Send it as it is, without one.")
      }
      if let coding = fields[.transferEncoding]?.trimmed, coding.lowercased() != "chunked" {
        return refusal("The body has a Transfer-Encoding other than chunked. Send it as it is.")
      }
      guard let type = mediaType(fields), type.hasPrefix("multipart/") else { return nil }
      return refusal(
        "The body is \(type). Send the receipt itself as the body, as application/octet-stream or application/json."
      )
    }

    /// The reason to refuse a request because of its header or body; `nil` if it is accepted.
    static func problem(_ fields: HTTPFields, body: some Collection<UInt8>) -> Problem? {
      problem(fields) ?? (isForm(fields) ? problem(inForm: body) : nil)
    }

    /// Returns `true` if the header declares a form, which can be wrong: `curl` does so with any body by default.
    static func isForm(_ fields: HTTPFields) -> Bool {
      mediaType(fields) == "application/x-www-form-urlencoded"
    }

    /// The reason to refuse a body that is declared as a form; `nil` if it is not a form.
    static func problem(inForm body: some Collection<UInt8>) -> Problem? {
      let name = body.prefix(maximumNameByteCount + 1).prefix { $0 != UInt8(ascii: "=") }
      guard 1...maximumNameByteCount ~= name.count, name.endIndex != body.endIndex, name.allSatisfy(isOfName)
      else { return nil }
      return refusal(
        "The body is a form. Send the receipt itself as the body, as application/octet-stream or application/json."
      )
    }

    private static func refusal(_ detail: String) -> Problem {
      Problem(.unsupportedMediaType, "unsupported-media-type", detail)
    }

    private static func mediaType(_ fields: HTTPFields) -> String? {
      fields[.contentType].map { text in
        Substring(text.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmed.lowercased()
      }
    }

    /// Returns `true` if a byte can occur in a field name (WHATWG URL, application/x-www-form-urlencoded).
    private static func isOfName(_ byte: UInt8) -> Bool {
      byte.isASCIILetterOrDigit || "*-._+%[]".utf8.contains(byte)
    }
  }

  extension UInt8 {
    var isASCIILetterOrDigit: Bool {
      switch self {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: false
      }
    }
  }

  extension StringProtocol {
    /// The text without spaces and tabs around it.
    var trimmed: SubSequence {
      let isSpace = { (character: Character) in character == " " || character == "\t" }
      let start = firstIndex { !isSpace($0) } ?? endIndex
      let end = lastIndex { !isSpace($0) }.map { index(after: $0) } ?? start
      return self[start..<end]
    }
  }
#endif
