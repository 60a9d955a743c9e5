// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The comparison of values that a harness reports with those of a case.
enum ValueComparison {
  /// Indicates whether values are the same. Lists are sets, of whose objects the members are compared that the harness
  /// gives; of an object alone, those that the case states.
  static func isSame(_ expected: JSONValue, _ found: JSONValue) -> Bool {
    let expected = plain(expected)
    let found = plain(found)
    switch (expected, found) {
    case (.object(let stated), .object(let given)):
      let names = Set(stated.map { Array($0.name.utf8) })
      return expected.encoded() == only(names, .object(given)).encoded()
    case (.array(let stated), .array(let given)):
      let names = Set(given.flatMap { $0.object ?? [] }.map { Array($0.name.utf8) })
      return sorted(stated.map { only(names, $0) }) == sorted(given)
    default: return expected.encoded() == found.encoded()
    }
  }

  private static func sorted(_ values: [JSONValue]) -> [[UInt8]] {
    values.map { $0.encoded() }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private static func only(_ names: Set<[UInt8]>, _ value: JSONValue) -> JSONValue {
    guard let members = value.object else { return value }
    return .object(members.filter { names.contains(Array($0.name.utf8)) })
  }

  /// A value in one form: members sorted and without nulls, instants without needless digits, numbers without needless
  /// fractions.
  private static func plain(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      let kept = members.filter { $0.value != .null }
      return .object(
        kept.map { JSONMember(name: $0.name, value: plain($0.value)) }
          .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
    case .array(let elements): return .array(elements.map(plain))
    case .number(let number): return .number(plain(number))
    case .string(let text): return .string(instant(text) ?? text)
    case .null, .bool: return value
    }
  }

  private static func plain(_ number: JSONNumber) -> JSONNumber {
    if let integer = number.int64 { return JSONNumber(integer) }
    guard number.text.utf8.contains(where: { [0x2E, 0x45, 0x65].contains($0) }) else { return number }
    return JSONNumber(number.double) ?? number
  }

  /// An instant such as `2025-10-01T07:09:12.500Z` without the zeros at the end of its fraction; `nil` for any other text.
  private static func instant(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    let form = Array("-00-00T00:00:00".utf8)
    guard let dash = bytes.firstIndex(of: form[0]), dash >= 4, bytes.count > dash + form.count else {
      return nil
    }
    let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
    let seconds = dash + form.count
    guard bytes[..<dash].allSatisfy(isDigit),
      zip(bytes[dash..<seconds], form).allSatisfy({ $1 == 0x30 ? isDigit($0) : $0 == $1 })
    else { return nil }
    var rest = bytes[seconds...]
    var fraction: ArraySlice<UInt8> = []
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard rest.elementsEqual("Z".utf8) || rest.elementsEqual("+00:00".utf8) else { return nil }
    while fraction.last == 0x30 { fraction.removeLast() }
    let end = fraction.isEmpty ? [] : [UInt8(ascii: ".")] + fraction
    return String(decoding: bytes[..<seconds] + end, as: UTF8.self) + "Z"
  }
}
