// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Reads numbers, literals and whole values.
extension JSONReader {
  private mutating func numberToken(_ expected: String) throws(MalformedReceipt) -> JSONScan.Number {
    guard position < bytes.count else { throw truncation() }
    let byte = bytes[position]
    guard byte == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte else {
      throw wrongType(expected)
    }
    let number = JSONScan.number(bytes.span, from: position)
    guard number.isValid else {
      if number.end >= bytes.count { throw truncation() }
      throw failure(.unexpected, at: number.end, "This is not how JSON writes a number.")
    }
    return number
  }

  /// Reads a 64-bit integer. Numbers such as `1.0` and `1e2` are integers too, because RFC 8259 section 6 has only one
  /// kind of number. Their limit is 2^53, up to which floating point is exact.
  mutating func integer() throws(MalformedReceipt) -> Int64 {
    let number = try numberToken("an integer")
    guard number.isInteger else {
      guard let value = floatingPoint(number).flatMap({ Int64(exactly: $0) }),
        value.magnitude <= 1 << 53
      else {
        throw fieldFailure(.wrongType, "expected an integer, found a number with a fraction.")
      }
      position = number.end
      return value
    }
    guard let value = number.int64 else {
      throw fieldFailure(.outOfRange, "the integer does not fit 64 bits.")
    }
    position = number.end
    return value
  }

  mutating func number() throws(MalformedReceipt) -> JSONNumber {
    let token = try numberToken("a number")
    let text = String(decoding: bytes[position..<token.end], as: UTF8.self)
    position = token.end
    return JSONNumber(validated: text)
  }

  /// Returns the value of a number token; `nil` if the token has more than 64 bytes, which no genuine number has.
  private func floatingPoint(_ number: JSONScan.Number) -> Double? {
    guard number.end - position <= 64 else { return nil }
    return UTF8Text.string(bytes.span.extracting(position..<number.end)).flatMap { Double($0) }
  }

  /// Reads a date: milliseconds since 1970, or an ISO 8601 string if ``acceptsDateStrings`` is set.
  mutating func timestamp() throws(MalformedReceipt) -> Timestamp {
    if acceptsDateStrings, position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
      let text = try stringBytes()
      guard let timestamp = Timestamp(iso8601: text.span) else {
        throw fieldFailure(
          .invalidValue, "expected milliseconds since 1970 or a date such as 2025-10-01T07:09:12Z.")
      }
      return timestamp
    }
    let number = try numberToken("a date in milliseconds since 1970")
    var milliseconds: Double?
    if number.isInteger {
      // Above 2^53 not every integer has an exact floating-point value.
      milliseconds = number.int64.flatMap { Double(exactly: $0) }
    } else {
      milliseconds = floatingPoint(number)
    }
    guard let milliseconds, abs(milliseconds) <= Timestamp.greatestMagnitude else {
      throw fieldFailure(.outOfRange, "the date lies more than 2^53 milliseconds from 1970.")
    }
    position = number.end
    return Timestamp(millisecondsSince1970: milliseconds)
  }

  mutating func boolean() throws(MalformedReceipt) -> Bool {
    if JSONScan.matches("true", bytes.span, at: position) {
      position += 4
      return true
    }
    if JSONScan.matches("false", bytes.span, at: position) {
      position += 5
      return false
    }
    throw wrongType("true or false")
  }

  /// Moves past `null` if it is the next value; returns `true` if it was.
  @inline(__always)
  mutating func skipNull() -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: "n"),
      JSONScan.matches("null", bytes.span, at: position)
    else { return false }
    position += 4
    return true
  }

  /// An array or object whose content is being read.
  private struct Container {
    var elements: [JSONValue] = []
    var members: [JSONMember] = []
    var names = JSONNameSet()
    var isObject: Bool
    /// The name of the member whose value comes next.
    var name = ""
  }

  /// Reads any value without recursion; keeps the text of numbers and the order of members.
  mutating func value() throws(MalformedReceipt) -> JSONValue {
    var containers: [Container] = []
    while true {
      var finished: JSONValue?
      switch try peek() {
      case UInt8(ascii: "{"):
        try beginObject()
        containers.append(Container(isObject: true))
        finished = try nextChild(of: &containers)
      case UInt8(ascii: "["):
        try beginArray()
        containers.append(Container(isObject: false))
        finished = try nextChild(of: &containers)
      default: finished = try scalar()
      }
      // Add a finished value to its container, which that may finish in turn.
      while let value = finished {
        guard let last = containers.indices.last else { return value }
        if containers[last].isObject {
          containers[last].members.append(JSONMember(name: containers[last].name, value: value))
        } else {
          containers[last].elements.append(value)
        }
        finished = try nextChild(of: &containers)
      }
    }
  }

  /// Moves to the next value of the innermost container; at its end, removes the container and returns it.
  private mutating func nextChild(of containers: inout [Container]) throws(MalformedReceipt) -> JSONValue? {
    let last = containers.count - 1
    guard containers[last].isObject else {
      if try nextElement(containers[last].elements.count) { return nil }
      return .array(containers.removeLast().elements)
    }
    guard try nextMember(isFirst: containers[last].members.isEmpty) else {
      return .object(containers.removeLast().members)
    }
    let name = try name()
    guard containers[last].names.insert(name) else { throw duplicate() }
    containers[last].name = name
    return nil
  }

  private mutating func scalar() throws(MalformedReceipt) -> JSONValue {
    switch try peek() {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool(try boolean())
    default:
      guard skipNull() else { throw unexpected("a value") }
      return .null
    }
  }

  /// Moves past a value without checking the contents of containers.
  mutating func skipValue() throws(MalformedReceipt) {
    var openContainers = 0
    repeat {
      switch try peek() {
      case UInt8(ascii: "\""): _ = try skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        openContainers += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard openContainers > 0 else { throw unexpected("a value") }
        openContainers -= 1
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"):
        guard openContainers > 0 else { throw unexpected("a value") }
        position += 1
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        position = try numberToken("a number").end
      case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try boolean()
      case UInt8(ascii: "n"): guard skipNull() else { throw unexpected("a value") }
      default: throw unexpected("a value")
      }
      if openContainers > 0 { skipWhitespace() }
    } while openContainers > 0
  }
}
