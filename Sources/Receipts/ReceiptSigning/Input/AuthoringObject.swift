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

  private mutating func take<Value>(
    _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) throws(SigningError) -> Value? {
    guard let value = take(name) else { return nil }
    guard let read = read(value) else {
      throw place.member(name).failure(.malformedInput, "The field \"\(name)\" must be \(expected).")
    }
    return read
  }

  mutating func string(_ name: String) throws(SigningError) -> String? {
    try take(name, "a string", \.string)
  }

  /// Takes a string or a whole number, which is converted to its digits: App Store identifiers are written both ways.
  mutating func identifier(_ name: String) throws(SigningError) -> String? {
    try take(name, "a string or a whole number") { $0.string ?? $0.int64.map { String($0) } }
  }

  mutating func integer(_ name: String) throws(SigningError) -> Int64? {
    try take(name, "a whole number of 64 bits", \.int64)
  }

  mutating func flag(_ name: String) throws(SigningError) -> Bool? {
    try take(name, "true or false") { if case .bool(let flag) = $0 { flag } else { nil } }
  }

  mutating func date(_ name: String) throws(SigningError) -> Timestamp? {
    let expected = "a date: milliseconds since 1970, or ISO 8601 such as \"2025-10-01T07:09:12Z\""
    return try take(name, expected) { value in
      if let text = value.string { return try? Timestamp(iso8601: text) }
      guard case .number(let number) = value, abs(number.double) <= Timestamp.greatestMagnitude else {
        return nil
      }
      return Timestamp(millisecondsSince1970: number.double)
    }
  }

  mutating func array(_ name: String) throws(SigningError) -> [JSONValue]? {
    try take(name, "an array", \.array)
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
}
