// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A strict pull parser for JSON (RFC 8259), which decodes signed payloads directly into structs. It is stricter than
/// Foundation's decoder, because a signed receipt must have one meaning only. It rejects invalid UTF-8, lone
/// surrogates, a byte order mark and duplicate member names. Nesting and counts are bounded, and errors name the place.
package struct JSONReader {
  let bytes: [UInt8]
  /// The offset of the next byte.
  var position = 0
  /// The name of the input in errors, such as "JWS payload".
  let part: String
  /// `true` to accept ISO 8601 strings as dates, for hand-written input.
  var acceptsDateStrings = false
  /// `true` to reject members without a field, which may be misspelt in a hand-written document.
  package internal(set) var isStrict = false

  private let maximumDepth: Int
  private(set) var depth = 0
  private var remainingElements: Int
  /// The place of the current value in its container.
  private var place = Place.top
  /// The places of the containers around the current value, except that of the top-level one.
  private var outerPlaces: [Place] = []

  private enum Place {
    case top
    /// A member. The range is that of its name, between the quotation marks.
    case member(nameStart: Int, nameEnd: Int)
    case element(Int)
  }

  /// The maximum nesting whatever the caller's limit, because releasing a nested value recurses.
  static let greatestDepth = 512

  init(_ bytes: [UInt8], part: String, limits: ReceiptLimits) throws(MalformedReceipt) {
    self.bytes = bytes
    self.part = part
    self.maximumDepth = min(limits.maximumDepth, Self.greatestDepth)
    self.remainingElements = limits.maximumElementCount
    try limits.require(bytes.count, of: part)
    skipWhitespace()
    guard position < bytes.count else {
      throw MalformedReceipt(.empty, at: .byteOffset(0, within: part), "The \(part) is empty.")
    }
  }

  /// Throws if anything but white space follows the top-level value.
  mutating func finish() throws(MalformedReceipt) {
    skipWhitespace()
    guard position == bytes.count else {
      throw failure(.trailingData, "Bytes follow the end of the JSON value.")
    }
  }

  // MARK: Structure

  @inline(__always)
  mutating func skipWhitespace() {
    if position < bytes.count, bytes[position] <= 0x20 {
      position = JSONScan.endOfWhitespace(bytes.span, from: position)
    }
  }

  /// Returns the next byte, which begins a value or ends a container, without consuming it.
  @inline(__always)
  func peek() throws(MalformedReceipt) -> UInt8 {
    guard position < bytes.count else { throw truncation() }
    return bytes[position]
  }

  mutating func beginObject() throws(MalformedReceipt) { try beginContainer() }

  mutating func beginArray() throws(MalformedReceipt) { try beginContainer() }

  private mutating func beginContainer() throws(MalformedReceipt) {
    guard depth < maximumDepth else {
      throw failure(.tooDeep, "JSON values are nested deeper than \(maximumDepth) levels.")
    }
    if depth > 0 { outerPlaces.append(place) }
    depth += 1
    position += 1
  }

  private mutating func endContainer() {
    position += 1
    depth -= 1
    place = outerPlaces.popLast() ?? .top
  }

  private mutating func count() throws(MalformedReceipt) {
    remainingElements -= 1
    guard remainingElements >= 0 else {
      throw failure(.tooLarge, "There are more members and elements than the limit allows.")
    }
  }

  /// Moves to the next element of the current array; at the end, leaves the array and returns `false`.
  mutating func nextElement(_ index: Int) throws(MalformedReceipt) -> Bool {
    skipWhitespace()
    let byte = try peek()
    if byte == UInt8(ascii: "]") {
      endContainer()
      return false
    }
    if index > 0 {
      guard byte == UInt8(ascii: ",") else { throw unexpected("a comma or a closing bracket") }
      position += 1
      skipWhitespace()
      guard try peek() != UInt8(ascii: "]") else { throw unexpected("a value after the comma") }
    }
    try count()
    place = .element(index)
    return true
  }

  /// Moves to the value of the next member of the current object; at the end, leaves the object and returns `false`.
  /// ``name()``, ``nameRange`` and ``nameHasEscapes`` describe the member until the next move.
  mutating func nextMember(isFirst: Bool) throws(MalformedReceipt) -> Bool {
    skipWhitespace()
    var byte = try peek()
    if byte == UInt8(ascii: "}") {
      endContainer()
      return false
    }
    if !isFirst {
      guard byte == UInt8(ascii: ",") else { throw unexpected("a comma or a closing brace") }
      position += 1
      skipWhitespace()
      byte = try peek()
    }
    guard byte == UInt8(ascii: "\"") else { throw unexpected("a member name in quotation marks") }
    let content = try skipString()
    place = .member(nameStart: content.range.lowerBound, nameEnd: content.range.upperBound)
    nameRange = content.range
    nameHasEscapes = content.hasEscapes
    skipWhitespace()
    guard try peek() == UInt8(ascii: ":") else { throw unexpected("a colon") }
    position += 1
    skipWhitespace()
    try count()
    return true
  }

  /// The range of the current member's name, between its quotation marks.
  private(set) var nameRange = 0..<0
  private(set) var nameHasEscapes = false

  func name() throws(MalformedReceipt) -> String { try text(nameRange, hasEscapes: nameHasEscapes) }

  // MARK: Errors

  func failure(_ code: MalformedReceipt.Code, at offset: Int? = nil, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .byteOffset(offset ?? position, within: part), message)
  }

  func truncation() -> MalformedReceipt {
    failure(.truncated, at: bytes.count, "The \(part) ends in the middle of a JSON value.")
  }

  func unexpected(_ expected: String) -> MalformedReceipt {
    guard position < bytes.count else { return truncation() }
    return failure(
      .unexpected, "Found byte \(hexadecimal: bytes[position]) where JSON needs \(expected).")
  }

  /// Creates an error about the current value or member, with its path.
  package func fieldFailure(_ code: MalformedReceipt.Code, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .jsonPath(path), "In the \(part): \(message)")
  }

  /// Creates the error for a value of the wrong type, or for bytes that are not JSON.
  func wrongType(_ expected: String) -> MalformedReceipt {
    guard position < bytes.count else { return truncation() }
    let found: String
    switch bytes[position] {
    case UInt8(ascii: "\""): found = "a string"
    case UInt8(ascii: "{"): found = "an object"
    case UInt8(ascii: "["): found = "an array"
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): found = "a number"
    case UInt8(ascii: "n") where JSONScan.matches("null", bytes.span, at: position): found = "null"
    case UInt8(ascii: "t") where JSONScan.matches("true", bytes.span, at: position): found = "true"
    case UInt8(ascii: "f") where JSONScan.matches("false", bytes.span, at: position): found = "false"
    default: return unexpected("a value")
    }
    return fieldFailure(.wrongType, "expected \(expected), found \(found).")
  }

  package var path: String { JSONPath.text(outerPlaces.compactMap(step) + [step(place)].compactMap { $0 }) }

  /// Returns the path to a member of the current value.
  func path(ofMember name: String) -> String {
    JSONPath.text(outerPlaces.compactMap(step) + [step(place)].compactMap { $0 } + [.member(name)])
  }

  private func step(_ place: Place) -> JSONPath.Step? {
    switch place {
    case .top: nil
    case .element(let index): .index(index)
    case .member(let start, let end):
      .member((try? text(start..<end, hasEscapes: true)) ?? "?")
    }
  }
}

/// A path to a JSON value, such as `$.data.items[0].price`, for error messages.
package enum JSONPath {
  /// A step from an array or an object to one of its values.
  package enum Step {
    case index(Int)
    case member(String)
  }

  package static func text(_ steps: [Step]) -> String {
    var text = "$"
    for step in steps {
      switch step {
      case .index(let index): text += "[\(index)]"
      case .member(let name) where isPlain(name): text += ".\(name)"
      case .member(let name):
        var writer = JSONWriter()
        writer.string(name)
        text += "[" + String(decoding: writer.bytes, as: UTF8.self) + "]"
      }
    }
    return text
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
