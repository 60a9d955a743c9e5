// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptHTTP

/// An object that the server takes or answers. Its type and coding are generated from the description of the API.
package protocol ServerObject: ServerAnswer, JSONObject, Sendable {
  /// The value of the member `type`; `nil` for an object without one.
  static var tag: String? { get }
  /// Keeps the `ETag` of the answer, if the object has a place for it.
  mutating func setEntityTag(_ tag: String?)
}

extension ServerObject {
  package static var tag: String? { nil }
  package mutating func setEntityTag(_ tag: String?) {}

  package static func read(_ response: RemoteResponse) throws(MalformedReceipt) -> Self {
    var object = try Self(json: response.body, part: "answer", limits: .answer)
    if let tag, let type = object.unknownFields.first(where: { $0.name == "type" }), type.value.string != tag
    {
      throw MalformedReceipt(.wrongType, at: .jsonPath("$.type"), "In the answer: the type is not \(tag).")
    }
    object.setEntityTag(response.header("ETag"))
    return object
  }
}

/// The content of a response of the server.
package protocol ServerAnswer: Sendable {
  static func read(_ response: RemoteResponse) throws(MalformedReceipt) -> Self
}

extension JSONValue: ServerAnswer {
  package static func read(_ response: RemoteResponse) throws(MalformedReceipt) -> JSONValue {
    try JSONValue(parsing: response.body, limits: .answer)
  }
}

extension [UInt8]: ServerAnswer {
  package static func read(_ response: RemoteResponse) throws(MalformedReceipt) -> [UInt8] { response.body }
}

extension String: ServerAnswer {
  package static func read(_ response: RemoteResponse) throws(MalformedReceipt) -> String {
    guard let text = String(validating: response.body, as: UTF8.self) else {
      throw MalformedReceipt(.invalidValue, at: .jsonPath("$"), "The answer is not UTF-8.")
    }
    return text
  }
}

extension NoContent: ServerAnswer {
  package static func read(_ response: RemoteResponse) throws(MalformedReceipt) -> NoContent { NoContent() }
}

extension ReceiptLimits {
  /// The limits of an answer; its length is limited when it is received.
  static let answer = ReceiptLimits(maximumByteCount: .max, maximumDepth: 64, maximumElementCount: 1_000_000)
}

/// A number from 0 to 2^64 - 1, which is a string from 2^53 on.
package struct CountForm: JSONFieldForm {
  package let value: UInt64

  package init(_ value: UInt64) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let found = try JSONValue(from: &json)
    if case .string(let digits) = found, let value = UInt64(digits), String(value) == digits {
      self.value = value
    } else if let number = found.int64, let value = UInt64(exactly: number) {
      self.value = value
    } else {
      throw json.fieldFailure(.invalidValue, "expected a number from 0, or a string with one.")
    }
  }

  package func write(to json: inout JSONWriter) {
    if value < 1 << 53 { json.integer(Int64(value)) } else { json.string(String(value)) }
  }
}

/// An instant as ISO 8601 in UTC with milliseconds. One outside the years 0000 to 9999, which the server writes with more
/// digits, is read as the first or last instant of these.
package struct InstantForm: JSONFieldForm {
  package let value: Timestamp

  package init(_ value: Timestamp) { self.value = value }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = Array(try String(from: &json).utf8)
    let isFar = text.count > 24 && text.allSatisfy { Array("0123456789+-T:.Z".utf8).contains($0) }
    let nearest = Timestamp(
      millisecondsSince1970: text.first == UInt8(ascii: "-") ? -62_167_219_200_000 : 253_402_300_799_999)
    guard let value = Timestamp(iso8601: text.span) ?? (isFar ? nearest : nil) else {
      throw json.fieldFailure(.invalidValue, "expected a date such as 2025-10-01T07:09:12.835Z.")
    }
    self.value = value
  }

  package func write(to json: inout JSONWriter) { json.timestamp(value) }
}
