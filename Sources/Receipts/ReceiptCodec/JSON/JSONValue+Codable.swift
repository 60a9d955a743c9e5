// SPDX-License-Identifier: Apache-2.0

extension JSONValue: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Decodes any value. The decoder determines the order of members and the precision of numbers.
  ///
  /// - Throws: `DecodingError` for a value that JSON cannot represent, such as an infinite number.
  public init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      self = .object(
        try container.allKeys.map {
          JSONMember(name: $0.stringValue, value: try container.decode(JSONValue.self, forKey: $0))
        })
      return
    }
    if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let bool = try? container.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = JSONNumber(try container.decode(Double.self)) {
      self = .number(number)
    } else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A number that is infinite or none is no JSON.")
    }
  }

  /// Encodes any value. The encoder determines the order of members.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var container = encoder.container(keyedBy: Key.self)
      for member in members { try container.encode(member.value, forKey: Key(stringValue: member.name)) }
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .bool(let bool): try bool.encode(to: encoder)
    case .string(let text): try text.encode(to: encoder)
    case .number(let number):
      if let integer = number.int64 {
        try integer.encode(to: encoder)
      } else {
        try number.double.encode(to: encoder)
      }
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    }
  }
}

/// Encoders and decoders use the same form for the objects of payloads as on the wire.
extension JSONObject {
  package init(decoding decoder: any Decoder) throws {
    let json = try JSONValue(from: decoder).encoded()
    do throws(MalformedReceipt) {
      try self.init(json: json, part: "\(Self.self)", limits: .standard)
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "\(error)", underlyingError: error))
    }
  }

  package func encodeFields(to encoder: any Encoder) throws {
    try JSONValue(parsing: encodedJSON()).encode(to: encoder)
  }
}

extension Timestamp: Codable {
  /// Decodes milliseconds since 1970-01-01T00:00:00Z.
  ///
  /// - Throws: `DecodingError` for anything but a number between -2^53 and 2^53.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let milliseconds = try container.decode(Double.self)
    guard abs(milliseconds) <= Self.greatestMagnitude else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "An instant is within 2^53 milliseconds of 1970.")
    }
    self.init(millisecondsSince1970: milliseconds)
  }

  /// Encodes milliseconds since 1970-01-01T00:00:00Z, as an integer if they have no fraction.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws {
    if let whole = Int64(exactly: millisecondsSince1970) {
      try whole.encode(to: encoder)
    } else {
      try millisecondsSince1970.encode(to: encoder)
    }
  }
}
