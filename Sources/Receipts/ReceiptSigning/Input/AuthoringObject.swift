// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// An object of authoring JSON whose fields are taken one by one; a remaining field is an error.
struct AuthoringObject {
  let place: JSONPath
  private var members: [JSONMember]
  private var known: [String] = []

  init(_ members: [JSONMember], at place: JSONPath) {
    self.members = members
    self.place = place
  }

  /// Takes a field; `null` counts as absent.
  mutating func take(_ name: String) -> JSONValue? {
    known.append(name)
    guard let index = members.firstIndex(where: { UTF8Text.isIdentical($0.name, name) }) else { return nil }
    let value = members.remove(at: index).value
    return value == .null ? nil : value
  }

  mutating func string(_ name: String) throws(SigningError) -> String? {
    guard let value = take(name) else { return nil }
    guard let text = value.string else { throw mistyped(name, "a string") }
    return text
  }

  /// Takes a string or a whole number, which is converted to its digits: App Store identifiers are written both ways.
  mutating func identifier(_ name: String) throws(SigningError) -> String? {
    guard let value = take(name) else { return nil }
    if let text = value.string { return text }
    guard let number = value.int64 else { throw mistyped(name, "a string or a whole number") }
    return String(number)
  }

  mutating func integer(_ name: String) throws(SigningError) -> Int64? {
    guard let value = take(name) else { return nil }
    guard let number = value.int64 else { throw mistyped(name, "a whole number of 64 bits") }
    return number
  }

  mutating func flag(_ name: String) throws(SigningError) -> Bool? {
    guard let value = take(name) else { return nil }
    guard case .bool(let flag) = value else { throw mistyped(name, "true or false") }
    return flag
  }

  mutating func date(_ name: String) throws(SigningError) -> Timestamp? {
    guard let value = take(name) else { return nil }
    switch value {
    case .number(let number):
      guard abs(number.double) <= Timestamp.greatestMagnitude else { break }
      return Timestamp(millisecondsSince1970: number.double)
    case .string(let text):
      guard let date = try? Timestamp(iso8601: text) else { break }
      return date
    default: break
    }
    throw mistyped(name, "a date: milliseconds since 1970, or ISO 8601 such as \"2025-10-01T07:09:12Z\"")
  }

  mutating func array(_ name: String) throws(SigningError) -> [JSONValue]? {
    guard let value = take(name) else { return nil }
    guard let elements = value.array else { throw mistyped(name, "an array") }
    return elements
  }

  /// Takes the remaining members, for another decoder.
  mutating func takeRest() -> [JSONMember] {
    defer { members = [] }
    return members
  }

  /// Throws an error if a member was not taken.
  func finish() throws(SigningError) {
    guard let first = members.first else { return }
    throw unknown(first.name)
  }

  func unknown(_ name: String, besides others: String = "") -> SigningError {
    place.member(name).failure(
      .unknownField,
      "The field \"\(name)\" is not known here, and nothing would become of it. Known are: "
        + known.sorted().joined(separator: ", ") + others + ".")
  }

  private func mistyped(_ name: String, _ expected: String) -> SigningError {
    place.member(name).failure(.malformedInput, "The field \"\(name)\" must be \(expected).")
  }
}
