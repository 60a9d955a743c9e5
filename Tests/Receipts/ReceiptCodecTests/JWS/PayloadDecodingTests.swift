// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

@Suite("JWS payload decoding")
struct PayloadDecodingTests {
  @Test(arguments: ["1.0", "1e0", "10e-1", "1"])
  func `An integer may be written as a decimal`(number: String) throws {
    let json = Array(#"{"transactionId":"1","quantity":\#(number)}"#.utf8)
    guard case .transaction(let transaction) = try JWSPayload(decoding: json) else {
      Issue.record("not a transaction")
      return
    }
    #expect(transaction.quantity == 1)
  }

  /// Replaces each field of a sample in turn, however deep, by a value of another type.
  @Test(arguments: JWSPayload.samples)
  func `A field of another type is refused at its path`(payload: JWSPayload) throws {
    let json = try JSONValue(parsing: payload.encoded())
    var tried = 0
    for path in Self.paths(to: json)
    where path.first != .member("futureField") && path.first != .member("Second") {
      // Unknown members may have any value.
      if path.contains(.member("futureField")) || path.contains(.member("Second")) { continue }
      let old = Self.value(at: path[...], in: json)
      for wrong in Self.wrongValues(for: old) {
        let changed = Self.replacing(path[...], in: json, by: wrong).encoded()
        expectMalformed(.wrongType, at: .jsonPath(Self.text(path))) { () throws(MalformedReceipt) in
          try JWSPayload(decoding: changed)
        }
        tried += 1
      }
    }
    #expect(tried >= 12)
  }

  @Test(arguments: JWSPayload.samples)
  func `Null counts as absent`(payload: JWSPayload) throws {
    guard case .object(let members) = try JSONValue(parsing: payload.encoded()) else { return }
    for index in members.indices {
      var changed = members
      changed[index].value = .null
      var without = members
      without.remove(at: index)
      let name = members[index].name
      guard name != "futureField", name != "Second" else { continue }
      if payload.kind == .signedRealtimeRequest {
        expectMalformed(.missing, at: .jsonPath("$." + name)) { () throws(MalformedReceipt) in
          try JWSPayload(decoding: JSONValue.object(changed).encoded(), as: payload.kind)
        }
      } else {
        let read = try JWSPayload(decoding: JSONValue.object(changed).encoded(), as: payload.kind)
        #expect(try read == JWSPayload(decoding: JSONValue.object(without).encoded(), as: payload.kind))
      }
    }
  }

  @Test(arguments: JWSPayload.samples)
  func `A repeated field is refused at its path`(payload: JWSPayload) throws {
    guard case .object(let members) = try JSONValue(parsing: payload.encoded()) else { return }
    for member in members {
      let changed = JSONValue.object(members + [member]).encoded()
      expectMalformed(.duplicate, at: .jsonPath("$." + member.name)) { () throws(MalformedReceipt) in
        try JWSPayload(decoding: changed)
      }
    }
  }

  @Test(
    arguments: [
      (#""quantity":1.5"#, .wrongType, "$.quantity"), (#""quantity":"1""#, .wrongType, "$.quantity"),
      (#""quantity":1e99"#, .wrongType, "$.quantity"),
      (#""quantity":9223372036854775808"#, .outOfRange, "$.quantity"),
      (#""price":-9223372036854775809"#, .outOfRange, "$.price"),
      (#""purchaseDate":"2025-10-01T07:09:12Z""#, .wrongType, "$.purchaseDate"),
      (#""purchaseDate":9007199254740993"#, .outOfRange, "$.purchaseDate"),
      (#""purchaseDate":-1e300"#, .outOfRange, "$.purchaseDate"),
      (#""purchaseDate":1e999"#, .outOfRange, "$.purchaseDate"),
      (#""isUpgraded":0"#, .wrongType, "$.isUpgraded"),
      (
        #""advancedCommerceInfo":{"items":[{},{"price":"x"}]}"#, .wrongType,
        "$.advancedCommerceInfo.items[1].price"
      ),
      (#""advancedCommerceInfo":{"items":[null]}"#, .wrongType, "$.advancedCommerceInfo.items[0]"),
      (#""commitmentInfo":{"a":1,"a":1}"#, .duplicate, "$.commitmentInfo.a"),
      (#""x":[{"y":1,"y":1}]"#, .duplicate, "$.x[0].y"),
      (#""bundleId":"a","\u0062undleId":"b""#, .duplicate, "$.bundleId"),
    ] as [(String, MalformedReceipt.Code, String)])
  func `Errors about values of the wrong type or range have their path`(
    members: String, code: MalformedReceipt.Code, path: String
  ) {
    expectMalformed(code, at: .jsonPath(path)) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: Array("{\"transactionId\":\"1\",\(members)}".utf8))
    }
  }

  @Test func `Dates are numbers, with a fraction or an exponent or neither`() throws {
    for (text, value) in [
      ("1697679936049.7297", 1_697_679_936_049.7297), ("1.5e12", 1.5e12), ("-0", 0), ("0.5", 0.5),
      ("9007199254740992", 9_007_199_254_740_992), ("-62135769600000", -62_135_769_600_000),
    ] {
      let json = Array("{\"signedDate\":\(text)}".utf8)
      #expect(try JWSTransaction(decoding: json).signedDate?.millisecondsSince1970 == value)
    }
  }

  @Test func `ISO 8601 dates are read only on request`() throws {
    let json = Array(
      #"{"transactionId":"1","purchaseDate":"2025-10-01T07:09:12.500+02:00","signedDate":5}"#.utf8)
    let payload = try JWSPayload(decoding: json, lenientDates: true)
    #expect(payload.transactions.first?.purchaseDate?.millisecondsSince1970 == 1_759_295_352_500)
    #expect(payload.signedDate?.millisecondsSince1970 == 5)
    expectMalformed(.wrongType, at: .jsonPath("$.purchaseDate")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: json)
    }
    expectMalformed(.invalidValue, at: .jsonPath("$.purchaseDate")) { () throws(MalformedReceipt) in
      try JWSTransaction(decoding: Array(#"{"purchaseDate":"yesterday"}"#.utf8), lenientDates: true)
    }
  }

  @Test func `Escapes and text beyond ASCII are read in fields`() throws {
    let json = Array(#"{"transactionId":"\u0031","productId":"caf\u00e9 😀"}"#.utf8)
    let payload = try JWSTransaction(decoding: json)
    #expect(payload.transactionId == "1" && payload.productId == "café 😀")
  }

  @Test func `Syntax errors have the offset in the payload`() {
    for (text, code, offset) in [
      (#"{"transactionId":"1","#, .truncated, 21), (#"{"transactionId":"1"} {}"#, .trailingData, 22),
      (#"{"transactionId":tru}"#, .unexpected, 17), (#"{"transactionId":"\ud800"}"#, .invalidValue, 18),
      ("{\"transactionId\":\"1\",\"quantity\":01}", .unexpected, 33),
    ] as [(String, MalformedReceipt.Code, Int)] {
      expectMalformed(code, at: .byteOffset(offset, within: "JWS payload")) { () throws(MalformedReceipt) in
        try JWSPayload(decoding: Array(text.utf8))
      }
    }
    let invalid = Array(#"{"transactionId":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
    expectMalformed(.invalidUTF8, at: .byteOffset(18, within: "JWS payload")) { () throws(MalformedReceipt) in
      try JWSPayload(decoding: invalid)
    }
  }

  // MARK: Changing a value deep in a document

  private enum Step: Hashable {
    case member(String)
    case index(Int)
  }

  private static func paths(to value: JSONValue) -> [[Step]] {
    switch value {
    case .object(let members):
      members.flatMap { member in
        [[.member(member.name)]] + paths(to: member.value).map { [.member(member.name)] + $0 }
      }
    case .array(let elements):
      elements.enumerated().flatMap { index, element in
        [[.index(index)]] + paths(to: element).map { [.index(index)] + $0 }
      }
    default: []
    }
  }

  private static func value(at path: ArraySlice<Step>, in value: JSONValue) -> JSONValue {
    switch path.first {
    case .member(let name): self.value(at: path.dropFirst(), in: value[name] ?? .null)
    case .index(let index): self.value(at: path.dropFirst(), in: value.array?[index] ?? .null)
    case nil: value
    }
  }

  private static func replacing(
    _ path: ArraySlice<Step>, in value: JSONValue, by new: JSONValue
  ) -> JSONValue {
    switch (path.first, value) {
    case (.member(let name), .object(let members)):
      .object(
        members.map { member in
          member.name == name
            ? JSONMember(name: name, value: replacing(path.dropFirst(), in: member.value, by: new)) : member
        })
    case (.index(let index), .array(var elements)):
      {
        elements[index] = replacing(path.dropFirst(), in: elements[index], by: new)
        return .array(elements)
      }()
    default: new
    }
  }

  private static func text(_ path: [Step]) -> String {
    path.reduce(into: "$") { text, step in
      switch step {
      case .member(let name): text += ".\(name)"
      case .index(let index): text += "[\(index)]"
      }
    }
  }

  private static func wrongValues(for value: JSONValue) -> [JSONValue] {
    let all: [JSONValue] = [.string("x"), .integer(5), .bool(true), .array([]), .object([])]
    return all.filter { wrong in
      switch (value, wrong) {
      case (.string, .string), (.number, .number), (.bool, .bool), (.array, .array), (.object, .object): false
      default: true
      }
    }
  }
}
