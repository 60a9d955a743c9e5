// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// The members of an object in a control request. Unknown names and wrong types are errors that name the member.
struct ControlMembers {
  private let object: [JSONMember]
  private let place: String

  /// - Parameters:
  ///   - json: The object.
  ///   - place: Where it stands, for messages; empty for the whole request.
  ///   - names: The names that are known.
  /// - Throws: ``EmulatorControl/Failure``.
  init(_ json: JSONValue, at place: String = "", _ names: [String]) throws(EmulatorControl.Failure) {
    guard let object = json.object else {
      throw EmulatorControl.Failure("\(place.isEmpty ? "The request" : place) is not an object.")
    }
    self.object = object
    self.place = place
    for member in object where !names.contains(member.name) {
      throw EmulatorControl.Failure(
        "There is no member \"\(path(member.name))\". Known are: \(names.joined(separator: ", ")).")
    }
  }

  /// The value of a member; `nil` if it is absent or `null`.
  subscript(_ name: String) -> JSONValue? {
    object.first { $0.name == name }.flatMap { $0.value.isNull ? nil : $0.value }
  }

  func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  private func value<Value>(
    _ name: String, _ kind: String, _ read: (JSONValue) -> Value?
  ) throws(EmulatorControl.Failure) -> Value? {
    guard let json = self[name] else { return nil }
    guard let value = read(json) else {
      throw EmulatorControl.Failure("\"\(path(name))\" is not \(kind).")
    }
    return value
  }

  func string(_ name: String) throws(EmulatorControl.Failure) -> String? {
    try value(name, "a text") { $0.string }
  }

  func integer(_ name: String) throws(EmulatorControl.Failure) -> Int64? {
    try value(name, "a whole number") { $0.int64 }
  }

  func number(_ name: String) throws(EmulatorControl.Failure) -> Double? {
    try value(name, "a number") { if case .number(let number) = $0 { number.double } else { nil } }
  }

  /// A number exactly as it is written, such as a price.
  func decimal(_ name: String) throws(EmulatorControl.Failure) -> Decimal? {
    try value(name, "a number") {
      if case .number(let number) = $0 { Decimal(string: number.text) } else { nil }
    }
  }

  func flag(_ name: String) throws(EmulatorControl.Failure) -> Bool? {
    try value(name, "true or false") { $0.flag }
  }

  func list(_ name: String) throws(EmulatorControl.Failure) -> [JSONValue]? {
    try value(name, "a list") { $0.array }
  }

  func strings(_ name: String) throws(EmulatorControl.Failure) -> [String]? {
    try value(name, "a list of texts") { list in
      guard let list = list.array else { return nil }
      let texts = list.compactMap(\.string)
      return texts.count == list.count ? texts : nil
    }
  }

  /// A time in milliseconds since 1970, or in ISO 8601.
  func time(_ name: String) throws(EmulatorControl.Failure) -> Timestamp? {
    try value(name, "a time: milliseconds since 1970, or 2026-01-31T12:00:00Z") { json in
      if let milliseconds = json.int64 { return Timestamp(millisecondsSince1970: Double(milliseconds)) }
      return json.string.flatMap { try? Timestamp(iso8601: $0) }
    }
  }

  /// A value of a list of choices.
  func choice<Value>(
    _ name: String, _ choices: KeyValuePairs<String, Value>
  ) throws(EmulatorControl.Failure) -> Value? {
    let names = choices.map(\.key).joined(separator: ", ")
    return try value(name, "one of: \(names)") { json in choices.first { $0.key == json.string }?.value }
  }

  /// A payload with Apple's member names.
  func payload<Payload>(
    _ name: String, _ read: ([UInt8]) throws(MalformedReceipt) -> Payload
  ) throws(EmulatorControl.Failure) -> Payload? {
    guard let json = self[name] else { return nil }
    do throws(MalformedReceipt) { return try read(json.encoded()) } catch {
      throw EmulatorControl.Failure("\"\(path(name))\": \(error.description)")
    }
  }

  /// The value of a member that must be there.
  func required<Value>(
    _ name: String, _ read: (String) throws(EmulatorControl.Failure) -> Value?
  ) throws(EmulatorControl.Failure) -> Value {
    guard let value = try read(name) else {
      throw EmulatorControl.Failure("The member \"\(path(name))\" is missing.")
    }
    return value
  }
}
