// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// An object of a control request. Its members are taken one by one, each with its type; one that is left over is an
/// error, so that a misspelt name is.
struct ControlObject {
  typealias Failure = EmulatorControl.Failure

  /// What the object is, for errors: `A rule`.
  var name: String
  private var members: [JSONMember]

  init(_ json: JSONValue, _ name: String) throws(Failure) {
    guard let members = json.object else { throw Failure("\(name) is an object.") }
    self.name = name
    self.members = members
  }

  /// The member's value; `nil` if there is none.
  mutating func take(_ member: String) -> JSONValue? {
    guard let index = members.firstIndex(where: { $0.name == member }) else { return nil }
    return members.remove(at: index).value
  }

  /// Takes a member that is `null`, and says whether it was.
  mutating func takeNull(_ member: String) -> Bool {
    guard let index = members.firstIndex(where: { $0.name == member && $0.value.isNull }) else {
      return false
    }
    members.remove(at: index)
    return true
  }

  mutating func integer(_ member: String, in range: ClosedRange<Int> = .min ... .max) throws(Failure) -> Int?
  {
    try take(member, "an integer\(Self.words(range))") {
      $0.int64.flatMap { Int(exactly: $0) }.flatMap { range ~= $0 ? $0 : nil }
    }
  }

  mutating func number(_ member: String, in range: ClosedRange<Double>) throws(Failure) -> Double? {
    try take(member, "a number from \(range.lowerBound) to \(range.upperBound)") {
      guard case .number(let number) = $0, range ~= number.double else { return nil }
      return number.double
    }
  }

  mutating func flag(_ member: String) throws(Failure) -> Bool? {
    try take(member, "true or false") { $0.flag }
  }

  mutating func array(_ member: String) throws(Failure) -> [JSONValue]? {
    try take(member, "a list") { $0.array }
  }

  /// A path with or without a query.
  mutating func path(_ member: String) throws(Failure) -> String? {
    try take(member, "a text that begins with /") { $0.string.flatMap { $0.hasPrefix("/") ? $0 : nil } }
  }

  /// One of several texts.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ member: String, of type: Choice.Type = Choice.self
  ) throws(Failure) -> Choice? {
    let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
    return try take(member, "one of \(choices)") { $0.string.flatMap { Choice(rawValue: $0) } }
  }

  /// The value of a member that must be there.
  func required<Value>(_ member: String, _ value: Value?) throws(Failure) -> Value {
    guard let value else { throw Failure("\(name) lacks the member \(member).") }
    return value
  }

  /// Fails if there is a member that was not taken.
  func end() throws(Failure) {
    guard let member = members.first else { return }
    throw Failure("\(name) has no member \(member.name).")
  }

  private mutating func take<Value>(
    _ member: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) throws(Failure) -> Value? {
    guard let json = take(member) else { return nil }
    guard let value = read(json) else { throw Failure("\(name): \(member) is \(expected).") }
    return value
  }

  private static func words(_ range: ClosedRange<Int>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, _): ""
    case (let lowest, .max): " of at least \(lowest)"
    case (let lowest, let highest): " from \(lowest) to \(highest)"
    }
  }
}
