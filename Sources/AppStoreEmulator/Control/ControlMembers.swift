// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import ReceiptCodec

/// The members of an object in a control request. Unknown names and wrong types are errors that name the member.
package struct ControlMembers {
  private let object: [JSONMember]
  private let place: String

  /// - Parameters:
  ///   - json: The object.
  ///   - place: Where it stands, for messages; empty for the whole request.
  ///   - names: The names that are known.
  /// - Throws: ``EmulatorControl/Failure``.
  package init(_ json: JSONValue, at place: String = "", _ names: [String]) throws(EmulatorControl.Failure) {
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
  package subscript(_ name: String) -> JSONValue? {
    object.first { $0.name == name }.flatMap { $0.value.isNull ? nil : $0.value }
  }

  package func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  private func value<Value>(
    _ name: String, _ kind: String, _ read: (JSONValue) -> Value?
  ) throws(EmulatorControl.Failure) -> Value? {
    guard let json = self[name] else { return nil }
    guard let value = read(json) else {
      throw EmulatorControl.Failure("\"\(path(name))\" is not \(kind).")
    }
    return value
  }

  package func string(_ name: String) throws(EmulatorControl.Failure) -> String? {
    try value(name, "a text") { $0.string }
  }

  package func integer(_ name: String) throws(EmulatorControl.Failure) -> Int64? {
    try value(name, "a whole number") { $0.int64 }
  }

  package func integer(_ name: String, in range: ClosedRange<Int>) throws(EmulatorControl.Failure) -> Int? {
    let limit =
      range.upperBound == .max ? "at least \(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    return try value(name, "a whole number of \(limit)") { json in
      json.int64.flatMap { Int(exactly: $0) }.flatMap { range ~= $0 ? $0 : nil }
    }
  }

  package func number(_ name: String) throws(EmulatorControl.Failure) -> Double? {
    try value(name, "a number") { if case .number(let number) = $0 { number.double } else { nil } }
  }

  package func number(_ name: String, in range: ClosedRange<Double>) throws(EmulatorControl.Failure)
    -> Double?
  {
    try value(name, "a number of \(range.lowerBound) to \(range.upperBound)") {
      if case .number(let number) = $0, range ~= number.double { number.double } else { nil }
    }
  }

  /// A number exactly as it is written, such as a price.
  package func decimal(_ name: String) throws(EmulatorControl.Failure) -> Decimal? {
    try value(name, "a number") {
      if case .number(let number) = $0 { Decimal(string: number.text) } else { nil }
    }
  }

  package func flag(_ name: String) throws(EmulatorControl.Failure) -> Bool? {
    try value(name, "true or false") { $0.flag }
  }

  package func list(_ name: String) throws(EmulatorControl.Failure) -> [JSONValue]? {
    try value(name, "a list") { $0.array }
  }

  package func strings(_ name: String) throws(EmulatorControl.Failure) -> [String]? {
    try value(name, "a list of texts") { list in
      guard let list = list.array else { return nil }
      let texts = list.compactMap(\.string)
      return texts.count == list.count ? texts : nil
    }
  }

  /// A time in milliseconds since 1970, or in ISO 8601.
  package func time(_ name: String) throws(EmulatorControl.Failure) -> Timestamp? {
    try value(name, "a time: milliseconds since 1970, or 2026-01-31T12:00:00Z") { json in
      if let milliseconds = json.int64 { return Timestamp(millisecondsSince1970: Double(milliseconds)) }
      return json.string.flatMap { try? Timestamp(iso8601: $0) }
    }
  }

  /// A path, or a path and query.
  package func absolutePath(_ name: String) throws(EmulatorControl.Failure) -> String? {
    try value(name, "a text that begins with /") { $0.string.flatMap { $0.hasPrefix("/") ? $0 : nil } }
  }

  /// A value of an enumeration.
  package func choice<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Value.Type = Value.self
  ) throws(EmulatorControl.Failure) -> Value? {
    let names = type.allCases.map(\.rawValue).joined(separator: ", ")
    return try value(name, "one of: \(names)") { $0.string.flatMap { Value(rawValue: $0) } }
  }

  /// A value of a list of choices.
  package func choice<Value>(
    _ name: String, _ choices: KeyValuePairs<String, Value>
  ) throws(EmulatorControl.Failure) -> Value? {
    let names = choices.map(\.key).joined(separator: ", ")
    return try value(name, "one of: \(names)") { json in choices.first { $0.key == json.string }?.value }
  }

  /// A payload with Apple's member names.
  package func payload<Payload>(
    _ name: String, _ read: ([UInt8]) throws(MalformedReceipt) -> Payload
  ) throws(EmulatorControl.Failure) -> Payload? {
    guard let json = self[name] else { return nil }
    do throws(MalformedReceipt) { return try read(json.encoded()) } catch {
      throw EmulatorControl.Failure("\"\(path(name))\": \(error.description)")
    }
  }

  /// A value of an enumeration that must be there.
  package func required<Value: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Value.Type
  ) throws(EmulatorControl.Failure) -> Value {
    try required(name) { name throws(EmulatorControl.Failure) in try choice(name, of: type) }
  }

  /// The value of a member that must be there.
  package func required<Value>(
    _ name: String, _ read: (String) throws(EmulatorControl.Failure) -> Value?
  ) throws(EmulatorControl.Failure) -> Value {
    guard let value = try read(name) else {
      throw EmulatorControl.Failure("The member \"\(path(name))\" is missing.")
    }
    return value
  }
}
