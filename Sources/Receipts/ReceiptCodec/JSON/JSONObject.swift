// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A struct that is encoded as a JSON object. One `switch` lists its fields for both directions.
///
/// ```swift
/// struct Offer: JSONObject {
///   var price: Int64?
///   var reason: String?
///   var unknownFields: [JSONMember] = []
///
///   enum Field: String, CaseIterable { case price, reason }
///   static let fieldNames = JSONFieldNames<Field>()
///   mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
///     switch field {
///     case .price: try coder.code(&price)
///     case .reason: try coder.code(&reason)
///     }
///   }
/// }
/// ```
///
/// The compiler rejects a field without a case. Members are written in the order of the cases.
package protocol JSONObject: JSONFieldValue, FieldwiseBuildable {
  associatedtype Field: RawRepresentable<String> & CaseIterable & Sendable
  /// The names of the fields, and the fields that are required.
  static var fieldNames: JSONFieldNames<Field> { get }
  /// Indicates whether `null` means an absent field; otherwise `null` has the wrong type.
  static var acceptsNull: Bool { get }
  /// The members without a field, in order.
  var unknownFields: [JSONMember] { get set }
  init()
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt)
}

extension JSONObject {
  package static var acceptsNull: Bool { true }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    self.init()
    guard json.position < json.bytes.count, json.bytes[json.position] == UInt8(ascii: "{") else {
      throw json.wrongType("an object")
    }
    try json.beginObject()
    let names = Self.fieldNames
    var isFirst = true
    var nextIndex = 0
    var seen: UInt64 = 0
    var present: UInt64 = 0
    var unknownNames = JSONNameSet()
    while try json.nextMember(isFirst: isFirst) {
      isFirst = false
      guard let index = try names.index(in: json, likely: nextIndex) else {
        let name = try json.name()
        guard unknownNames.insert(name) else { throw json.duplicate() }
        guard !json.isStrict else {
          throw json.fieldFailure(.unexpected, "no such member; correct its spelling or remove it.")
        }
        unknownFields.append(JSONMember(name: name, value: try json.value()))
        continue
      }
      nextIndex = index + 1
      let bit: UInt64 = 1 &<< UInt64(index)
      guard seen & bit == 0 else { throw json.duplicate() }
      seen |= bit
      if Self.acceptsNull, json.skipNull() { continue }
      present |= bit
      try code(names.fields[index], with: &json)
    }
    let missing = names.required & ~present
    guard missing == 0 else { throw json.missing(names.fields[missing.trailingZeroBitCount].rawValue) }
  }

  package func write(to json: inout JSONWriter) {
    json.beginObject()
    var coder = JSONFieldWriter(json: json)
    var copy = self
    for field in Self.fieldNames.fields {
      coder.name = field.rawValue
      // Writing never throws. The method can throw only because the same code also reads.
      try? copy.code(field, with: &coder)
    }
    json = coder.json
    for member in unknownFields where Field(rawValue: member.name) == nil {
      json.name(member.name)
      json.value(member.value)
    }
    json.endObject()
  }

  package init(
    json bytes: [UInt8], part: String, limits: ReceiptLimits, acceptsDateStrings: Bool = false,
    isStrict: Bool = false
  ) throws(MalformedReceipt) {
    var reader = try JSONReader(bytes, part: part, limits: limits)
    reader.acceptsDateStrings = acceptsDateStrings
    reader.isStrict = isStrict
    try self.init(from: &reader)
    try reader.finish()
  }

  package func encodedJSON() -> [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }
}

/// An object that knows all its members. Others are rejected in a strict document and ignored in any other.
package protocol JSONRecord: JSONObject {}

extension JSONRecord {
  package var unknownFields: [JSONMember] {
    get { [] }
    set {}
  }
}

/// Reads or writes the current field of an object.
package protocol JSONFieldCoder {
  mutating func code<Value: JSONFieldValue>(_ value: inout Value?) throws(MalformedReceipt)
  /// Codes a required field.
  mutating func code<Value: JSONFieldValue>(_ value: inout Value) throws(MalformedReceipt)
}

extension JSONFieldCoder {
  /// Codes a field that is omitted if it has its default value.
  package mutating func code<Value: JSONFieldValue & Equatable>(
    _ value: inout Value, default usual: Value
  ) throws(MalformedReceipt) {
    var optional = value == usual ? nil : value
    try code(&optional)
    if let optional { value = optional }
  }

  /// Codes a field under its former name: read if the current name is absent, never written.
  package mutating func code<Value: JSONFieldValue>(former value: inout Value?) throws(MalformedReceipt) {
    var former: Value?
    try code(&former)
    if value == nil { value = former }
  }

  /// Codes a field whose type has a different form in JSON.
  package mutating func code<Form: JSONFieldForm>(
    _ value: inout Form.Value, as form: Form.Type
  ) throws(MalformedReceipt) {
    var field = form.init(value)
    try code(&field)
    value = field.value
  }

  package mutating func code<Form: JSONFieldForm>(
    _ value: inout Form.Value?, as form: Form.Type
  ) throws(MalformedReceipt) {
    var field = value.map { form.init($0) }
    try code(&field)
    value = field?.value
  }
}

extension JSONReader: JSONFieldCoder {
  package mutating func code<Value: JSONFieldValue>(_ value: inout Value?) throws(MalformedReceipt) {
    value = try Value(from: &self)
  }

  package mutating func code<Value: JSONFieldValue>(_ value: inout Value) throws(MalformedReceipt) {
    value = try Value(from: &self)
  }

  func duplicate() -> MalformedReceipt {
    fieldFailure(.duplicate, "the member occurs twice in one object.")
  }

  func missing(_ name: String) -> MalformedReceipt {
    MalformedReceipt(
      .missing, at: .jsonPath(path(ofMember: name)), "In the \(part): the member \"\(name)\" is required.")
  }
}

/// Writes the fields that have a value.
struct JSONFieldWriter: JSONFieldCoder {
  var json: JSONWriter
  var name = ""

  mutating func code<Value: JSONFieldValue>(_ value: inout Value?) {
    guard let value else { return }
    json.name(name)
    value.write(to: &json)
  }

  mutating func code<Value: JSONFieldValue>(_ value: inout Value) {
    json.name(name)
    value.write(to: &json)
  }
}

/// A value that is built by setting its fields, because most such types have too many for an initializer.
///
/// ```swift
/// let transaction = JWSTransaction().with {
///   $0.transactionId = "2000000001"
///   $0.productId = "com.example.pro"
/// }
/// ```
package protocol FieldwiseBuildable {}

extension FieldwiseBuildable {
  /// Returns a copy with some fields changed.
  package func with<Failure: Error>(
    _ change: (inout Self) throws(Failure) -> Void
  ) throws(Failure) -> Self {
    var copy = self
    try change(&copy)
    return copy
  }
}

/// The member names already read from one object, to reject duplicates. RFC 8259, section 4, does not define the
/// meaning of duplicate names, so two parsers could see two different receipts. Names are equal if their bytes are.
/// Fewer than 16 names are compared one by one; more are hashed.
struct JSONNameSet {
  private var few: [String] = []
  private var many: Set<Name> = []

  /// Inserts a name; returns `false` if it is already in the set.
  mutating func insert(_ name: String) -> Bool {
    if many.isEmpty {
      guard !few.contains(where: { UTF8Text.isIdentical($0, name) }) else { return false }
      few.append(name)
      if few.count == 16 { many = Set(few.map(Name.init)) }
      return true
    }
    return many.insert(Name(text: name)).inserted
  }

  /// A name that is hashed by its bytes. `String` gives all canonically equivalent spellings one hash, and there can be
  /// many.
  private struct Name: Hashable {
    let text: String

    static func == (lhs: Name, rhs: Name) -> Bool { UTF8Text.isIdentical(lhs.text, rhs.text) }

    func hash(into hasher: inout Hasher) {
      var word: UInt64 = 0
      var count = 0
      for byte in text.utf8 {
        word = word << 8 | UInt64(byte)
        count += 1
        if count % 8 == 0 { hasher.combine(word) }
      }
      hasher.combine(word)
      hasher.combine(count)
    }
  }
}
