// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

@Suite("JSON parsing (RFC 8259)")
struct JSONParsingTests {
  private func parse(_ text: String) throws(MalformedReceipt) -> JSONValue {
    try JSONValue(parsing: Array(text.utf8))
  }

  private func number(_ text: String) -> JSONValue? { JSONNumber(text: text).map { .number($0) } }

  private func expectFailure(
    _ code: MalformedReceipt.Code, at offset: Int, in bytes: [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectMalformed(code, at: .byteOffset(offset, within: "JSON document"), sourceLocation: sourceLocation) {
      () throws(MalformedReceipt) in try JSONValue(parsing: bytes)
    }
  }

  @Test func `Every type of value is read`() throws {
    let text = #" {"a":[1,-2.50e+3,"x",true,false,null,{},[]],"b":{"c":""}} "#
    let expected = JSONValue.object([
      JSONMember(
        name: "a",
        value: .array([
          .integer(1), try #require(number("-2.50e+3")), .string("x"), .bool(true), .bool(false), .null,
          .object([]), .array([]),
        ])),
      JSONMember(name: "b", value: .object([JSONMember(name: "c", value: .string(""))])),
    ])
    #expect(try parse(text) == expected)
    #expect(try parse(text).encoded() == Array(text.utf8.dropFirst().dropLast()))
  }

  @Test(arguments: ["null", "true", "false", "0", "-0", "\"\"", "[]", "{}", "\t\r\n 1 \t\r\n"])
  func `Any value may stand at the top`(text: String) throws { _ = try parse(text) }

  @Test(arguments: [
    "0", "-0", "1", "-1", "10", "0.0", "0.5", "1.50", "1e5", "1E5", "1e+5", "1e-5", "0e0", "-0.1E-10",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400", "1697679936049.7297",
    "123456789012345678901234567890",
  ])
  func `The text of a number is kept`(text: String) throws {
    #expect(try parse(text) == number(text))
    #expect(try parse("[\(text),\(text)]").encoded() == Array("[\(text),\(text)]".utf8))
  }

  @Test func `Numbers convert only where nothing is lost`() throws {
    #expect(try parse("9223372036854775807").int64 == Int64.max)
    #expect(try parse("-9223372036854775808").int64 == Int64.min)
    #expect(try parse("9223372036854775808").int64 == nil)
    #expect(try parse("-9223372036854775809").int64 == nil)
    #expect(try parse("18446744073709551617").int64 == nil)
    #expect(try parse("1.0").int64 == nil)
    #expect(try parse("1e2").int64 == nil)
    #expect(JSONNumber(text: "1e400")?.double == .infinity)
    #expect(JSONNumber(0.1)?.text == "0.1")
    #expect(JSONNumber(1e15)?.text == "1000000000000000")
    #expect(JSONNumber(Double.nan) == nil)
    #expect(JSONNumber(text: "01") == nil)
    #expect(JSONNumber(text: "1 ") == nil)
    #expect(JSONNumber(text: "") == nil)
  }

  @Test(arguments: [
    ("01", 1), ("-01", 2), ("00", 1), ("-a", 1), ("1.a", 2), ("1.e5", 2), ("1ea", 2), ("1e+a", 3), ("+1", 0),
    (".5", 0), ("[-]", 2), ("NaN", 0), ("Infinity", 0), ("-Infinity", 1), ("0x10", 1), ("1,", 1), ("1 2", 2),
  ])
  func `Malformed numbers are refused`(text: String, offset: Int) {
    let code: MalformedReceipt.Code = ["0x10", "1,", "1 2"].contains(text) ? .trailingData : .unexpected
    expectFailure(code, at: offset, in: Array(text.utf8))
  }

  @Test func `Escapes are resolved`() throws {
    #expect(try parse(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u00E9\u20AC""#) == .string("\"\\/\u{8}\u{C}\n\r\tAéé€"))
    #expect(try parse(#""\ud83d\ude00\uD83D\uDE00""#) == .string("😀😀"))
    #expect(try parse(#""\u0000""#) == .string("\0"))
    #expect(try parse(#""\uFFFF\uD7FF\uE000""#) == .string("\u{FFFF}\u{D7FF}\u{E000}"))
    #expect(try parse(#""a\u0062c\u0064e\\u0041""#) == .string(#"abcde\u0041"#))
    #expect(try parse("\"é€😀\u{7F}\"") == .string("é€😀\u{7F}"))
  }

  @Test(arguments: [
    (#""\a""#, 1), (#""\U0041""#, 1), (#""ab\'""#, 3), (#""\x41""#, 1), (#""\u12""#, 1), (#""\u12G4""#, 1),
    (#""\u 123""#, 1), (#""\ud83d""#, 1), (#""\ud83dx""#, 1), (#""\ud83d\n""#, 1), (#""\ud83d\u0041""#, 1),
    (#""\ude00""#, 1), (#""a\ude00\ud83d""#, 2), (#""\ud83d\ud83d""#, 1), (#""\ud83d\u12""#, 7),
  ])
  func `Bad escapes and lone surrogates are refused`(text: String, offset: Int) {
    expectFailure(.invalidValue, at: offset, in: Array(text.utf8))
    expectFailure(.invalidValue, at: offset + 1, in: Array("{\(text):1}".utf8))
  }

  @Test func `Control characters in strings are refused`() {
    for byte in UInt8(0)..<0x20 {
      expectFailure(.unexpected, at: 3, in: [0x22, 0x61, 0x62, byte, 0x22])
      let long = [0x22] + [UInt8](repeating: 0x61, count: 21) + [byte, 0x22]
      expectFailure(.unexpected, at: 22, in: long)
    }
  }

  @Test(
    arguments: [
      [0x80], [0xC3], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
      [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x82],
    ] as [[UInt8]])
  func `Invalid UTF-8 is refused`(bytes: [UInt8]) {
    expectFailure(.invalidUTF8, at: 2, in: [0x22, 0x61] + bytes + [0x22])
    expectFailure(.invalidUTF8, at: 4, in: Array(#""\n"#.utf8) + [0x61] + bytes + [0x22])
    expectFailure(.invalidUTF8, at: 3, in: Array("{\"a".utf8) + bytes + Array("\":1}".utf8))
  }

  @Test(arguments: [
    ("[1,]", 3), ("[,1]", 1), ("[1 2]", 3), ("{,}", 1), ("{\"a\":1,}", 7), ("{\"a\" 1}", 5), ("{\"a\",1}", 4),
    ("{a:1}", 1), ("{1:1}", 1), ("{'a':1}", 1), ("[1}", 2), ("{\"a\":1]", 6), ("{\"a\":}", 5), ("]", 0),
    ("tru", 0), ("True", 0), ("nul", 0), ("// x\n1", 0), ("[1 /**/]", 3), ("{\"a\":1 \"b\":2}", 7),
    ("[\u{A0}1]", 1), ("\u{FEFF}1", 0), ("undefined", 0), ("[1\u{0C}]", 2),
  ])
  func `Malformed structure is refused`(text: String, offset: Int) {
    expectFailure(.unexpected, at: offset, in: Array(text.utf8))
  }

  @Test(arguments: [
    "[", "{", "[1", "[1,", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "\"", "\"a", "\"\\",
    "\"\\\"",
    "-", "1.", "1e", "1e+", "[[]", "{\"a\":{}",
  ])
  func `Truncated JSON is refused`(text: String) {
    expectFailure(.truncated, at: text.utf8.count, in: Array(text.utf8))
  }

  @Test func `An empty document is refused`() {
    expectFailure(.empty, at: 0, in: [])
    expectFailure(.empty, at: 0, in: Array(" \n".utf8))
  }

  @Test(arguments: [("{} x", 3), ("1\n2", 2), ("[]]", 2), ("\"a\"\"b\"", 3), ("null\0", 4)])
  func `Bytes after the value are refused`(text: String, offset: Int) {
    expectFailure(.trailingData, at: offset, in: Array(text.utf8))
  }

  @Test(arguments: [
    (#"{"a":1,"a":1}"#, "$.a"), (#"{"a":1,"b":2,"\u0061":3}"#, "$.a"), (#"{"":1,"":1}"#, #"$[""]"#),
    (#"{"x":[0,{"é":1,"\u00e9":2}]}"#, #"$.x[1]["é"]"#), (#"{"x":{"y z":null,"y z":null}}"#, #"$.x["y z"]"#),
    (#"[[{"a":1,"b":{"a":1},"a":2}]]"#, "$[0][0].a"),
  ])
  func `A repeated member name is refused, however it is spelled`(text: String, path: String) {
    expectMalformed(.duplicate, at: .jsonPath(path)) { () throws(MalformedReceipt) in try parse(text) }
  }

  @Test func `Canonically equivalent names are different names`() throws {
    let value = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(value.object?.count == 2)
    #expect(value["\u{E9}"] == .integer(1))
    #expect(value["e\u{301}"] == .integer(2))
  }

  @Test func `Members are found by name`() throws {
    let value = try parse(#"{"a":1,"b":"x","c":[true]}"#)
    #expect(value["b"]?.string == "x")
    #expect(value["c"]?.array == [.bool(true)])
    #expect(value["d"] == nil)
    #expect(value["a"]?["a"] == nil)
    #expect(value.string == nil)
    let found = try JSONDocument.stringMembers(named: ["c", "b", "a"], in: value.encoded())
    #expect(found.map(\.name) == ["b"] && found.map(\.value) == ["x"])
    expectMalformed(.wrongType, at: .jsonPath("$")) { () throws(MalformedReceipt) in
      try JSONDocument.stringMembers(named: ["a"], in: Array("[]".utf8)).count
    }
  }
}
