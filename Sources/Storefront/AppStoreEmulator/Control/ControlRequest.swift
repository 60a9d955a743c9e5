// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import ReceiptCodec

extension JSONObject {
  /// Reads a control request. An unknown member, or one of a wrong type, is an error that names the member.
  package init(control body: [UInt8]) throws(MalformedReceipt) {
    try self.init(
      json: body, part: "control request", limits: .standard, acceptsDateStrings: true, isStrict: true)
  }
}

/// An enumeration in a control request. Only the names of its cases are accepted.
package protocol ControlChoice: JSONFieldValue, RawRepresentable<String>, CaseIterable {}

extension ControlChoice {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let name = try String(from: &json)
    guard let choice = Self(rawValue: name) else {
      let names = Self.allCases.map(\.rawValue).joined(separator: ", ")
      throw json.fieldFailure(.invalidValue, "\"\(name)\" is not one of: \(names).")
    }
    self = choice
  }

  package func write(to json: inout JSONWriter) { json.string(rawValue) }
}

/// A number exactly as it is written, such as a price.
struct PlainNumber: JSONFieldForm {
  let value: Decimal

  init(_ value: Decimal) { self.value = value }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    guard case .number(let number) = try JSONValue(from: &json), let value = Decimal(string: number.text)
    else {
      throw json.fieldFailure(.wrongType, "expected a number.")
    }
    self.value = value
  }

  func write(to json: inout JSONWriter) {
    json.value(JSONNumber(text: value.description).map { .number($0) } ?? .null)
  }
}
