// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

@Suite("JSON limits")
struct JSONLimitTests {
  @Test func `Nesting is bounded where the limit says`() throws {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let inner = open == "[" ? "" : "1"
      let limit = 32
      let deepest = String(repeating: open, count: limit) + inner + String(repeating: close, count: limit)
      _ = try JSONValue(parsing: Array(deepest.utf8))
      let deeper = open + deepest + close
      expectMalformed(.tooDeep, at: .byteOffset(open.utf8.count * limit, within: "JSON document")) {
        () throws(MalformedReceipt) in try JSONValue(parsing: Array(deeper.utf8))
      }
    }
  }

  @Test func `No limit lets values nest without bound`() {
    let limits = ReceiptLimits(maximumDepth: .max)
    for unit in ["[", "{\"a\":", "[{\"a\":"] {
      let bomb = Array(String(repeating: unit, count: 200_000).utf8)
      #expect(throws: MalformedReceipt.self) { () throws(MalformedReceipt) in
        try JSONValue(parsing: bomb, limits: limits)
      }
      #expect(throws: MalformedReceipt.self) { () throws(MalformedReceipt) in
        try JWSPayload(decoding: Array("{\"transactionId\":\"1\",\"x\":".utf8) + bomb, limits: limits)
      }
    }
  }

  @Test func `Elements are counted`() throws {
    let limits = ReceiptLimits(maximumElementCount: 4)
    _ = try JSONValue(parsing: Array("[1,[2,3]]".utf8), limits: limits)
    expectMalformed(.tooLarge, at: .byteOffset(8, within: "JSON document")) { () throws(MalformedReceipt) in
      try JSONValue(parsing: Array("[1,[2,3,4]]".utf8), limits: limits)
    }
    expectMalformed(.tooLarge, at: .byteOffset(22, within: "JSON document")) { () throws(MalformedReceipt) in
      try JSONValue(parsing: Array("{\"a\":[{},{}],\"b\":{\"c\":0}}".utf8), limits: limits)
    }
  }

  @Test func `Bytes are counted before anything is read`() {
    expectMalformed(.tooLarge, at: .byteOffset(8, within: "JSON document")) { () throws(MalformedReceipt) in
      try JSONValue(parsing: [UInt8](repeating: 0, count: 9), limits: ReceiptLimits(maximumByteCount: 8))
    }
  }

  /// Quadratic comparison of names would take hours here.
  @Test
  func `Very many members cost no more than their number`() throws {
    let count = 50_000
    var text: [UInt8] = [UInt8(ascii: "{")]
    for index in 0..<count { text += Array("\"member\(index)\":0,".utf8) }
    let repeated = text + Array("\"member77\":0}".utf8)
    expectMalformed(.duplicate, at: .jsonPath("$.member77")) { () throws(MalformedReceipt) in
      try JSONValue(parsing: repeated)
    }
    let unique = text + Array("\"transactionId\":\"1\"}".utf8)
    guard case .transaction(let transaction) = try JWSPayload(decoding: unique) else {
      Issue.record("not a transaction")
      return
    }
    #expect(transaction.unknownFields.count == count)
  }

  /// All orders of the same combining marks are canonically equivalent: names that `String` hashes alike.
  @Test
  func `Names made to collide cost no more than others`() throws {
    let marks = ["\u{301}", "\u{327}", "\u{323}", "\u{345}", "\u{334}", "\u{1D165}", "\u{5B0}"]
    var names = ["a"]
    for _ in 0..<5 { names = names.flatMap { name in marks.map { name + $0 } } }
    let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"
    #expect(try JSONValue(parsing: Array(text.utf8)).object?.count == names.count)
  }
}
