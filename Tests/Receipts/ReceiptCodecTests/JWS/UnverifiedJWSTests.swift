// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("Unverified JWS")
struct UnverifiedJWSTests {
  private let header = JWSHeader(x5c: [[1, 2, 3], [0xFB, 0xEF], []], kid: "k", typ: "JWT")
  private let payload = Array(#"{"transactionId":"1"}"#.utf8)

  private func compact() -> [UInt8] {
    JWSWriter.compact(
      signingInput: JWSWriter.signingInput(header: header, payload: payload),
      signature: [UInt8](repeating: 7, count: 64))
  }

  @Test func `A failure of base64 names its part and the offset in the receipt`() {
    let place = MalformedReceipt.Place.byteOffset(103, within: "JWS payload")
    let error = #expect(throws: MalformedReceipt.self) {
      try Base64URL.decode(Array("AAA*".utf8).span, part: "JWS payload", start: 100)
    }
    #expect(error?.code == .invalidBase64)
    #expect(error?.place == place)
  }

  @Test func `An encoded JWS is read back`() throws {
    let bytes = compact()
    let jws = try UnverifiedJWS(parsing: bytes)
    #expect(jws.compact == bytes)
    #expect(jws.payload == payload)
    #expect(jws.signature == [UInt8](repeating: 7, count: 64))
    #expect(try jws.header() == header)
    #expect(Array(bytes[jws.signingInputRange]) == JWSWriter.signingInput(header: header, payload: payload))
    #expect(Array(bytes[jws.encodedHeaderRange]) == Base64URL.encode(header.encoded()))
    #expect(
      try jws.decoded().content
        == .transaction(
          JWSTransaction().with {
            $0.transactionId = "1"
          }))
  }

  @Test(
    arguments: [
      ("", .empty, 0), ("e30", .truncated, 3), ("e30.e30", .truncated, 7), ("e30.e30.AA.", .unexpected, 10),
      ("e30.e30.AA.AA", .unexpected, 10), ("e30.e30.AA.AA.AA", .unexpected, 10), (".e30.AA", .missing, 0),
      ("e30..AA", .missing, 4), ("..", .missing, 0), (".", .truncated, 1), ("e30.e3 0.AA", .invalidBase64, 6),
      ("e30.e30=.AA", .invalidBase64, 7), ("e30.e30.AA\n", .invalidBase64, 10),
      ("e30.e30.A", .invalidBase64, 9),
      ("e30.e31.AA", .invalidBase64, 6), ("e30.e30.AB", .invalidBase64, 9), ("e30.e30.+/", .invalidBase64, 8),
      ("e30. .AA", .invalidBase64, 4),
    ] as [(String, MalformedReceipt.Code, Int)])
  func `Anything but three parts of base64url is refused`(
    text: String, code: MalformedReceipt.Code, offset: Int
  ) {
    expectMalformed(code, at: .byteOffset(offset, within: "JWS")) { () throws(MalformedReceipt) in
      try UnverifiedJWS(parsing: Array(text.utf8))
    }
  }

  @Test func `An unsigned JWS is parsed, so that the verifier can name the fault`() throws {
    let header = JWSHeader(alg: "none")
    let jws = try UnverifiedJWS(
      parsing: JWSWriter.compact(
        signingInput: JWSWriter.signingInput(header: header, payload: payload), signature: []))
    #expect(jws.signature.isEmpty)
    #expect(try jws.header().alg == "none")
  }

  @Test func `The limit on size is kept`() {
    let bytes = compact()
    expectMalformed(.tooLarge, at: .byteOffset(20, within: "JWS")) { () throws(MalformedReceipt) in
      try UnverifiedJWS(parsing: bytes, limits: ReceiptLimits(maximumByteCount: 20))
    }
  }

  @Test func `A header that is not base64url is refused when it is read`() throws {
    let jws = try UnverifiedJWS(parsing: Array("e3*.e30.AA".utf8))
    expectMalformed(.invalidBase64, at: .byteOffset(2, within: "JWS")) { () throws(MalformedReceipt) in
      try jws.header()
    }
  }

  @Test(
    arguments: [
      (#"{}"#, .missing, "$.alg"), (#"{"alg":null}"#, .wrongType, "$.alg"),
      (#"{"alg":1}"#, .wrongType, "$.alg"),
      (#"{"alg":"ES256","alg":"none"}"#, .duplicate, "$.alg"),
      (#"{"alg":"ES256","\u0061lg":"none"}"#, .duplicate, "$.alg"),
      (#"{"alg":"ES256","x5c":"AA=="}"#, .wrongType, "$.x5c"),
      (#"{"alg":"ES256","x5c":["AA==",5]}"#, .wrongType, "$.x5c[1]"),
      (#"{"alg":"ES256","x5c":["AA==","AA"]}"#, .invalidBase64, "$.x5c[1]"),
      (#"{"alg":"ES256","x5c":["_-8="]}"#, .invalidBase64, "$.x5c[0]"),
      (#"{"alg":"ES256","crit":null}"#, .wrongType, "$.crit"),
      (#"{"alg":"ES256","crit":"b64"}"#, .wrongType, "$.crit"),
      (#"{"alg":"ES256","kid":1}"#, .wrongType, "$.kid"), (#"["ES256"]"#, .wrongType, "$"),
      (#"{"alg":"ES256","jwk":{"a":1,"a":2}}"#, .duplicate, "$.jwk.a"),
    ] as [(String, MalformedReceipt.Code, String)])
  func `Errors in the header have their path`(text: String, code: MalformedReceipt.Code, path: String) {
    expectMalformed(code, at: .jsonPath(path)) { () throws(MalformedReceipt) in
      try JWSHeader(decoding: Array(text.utf8))
    }
  }

  @Test func `Header members of every sort are kept`() throws {
    let text = #"{"alg":"ES256","kid":"k","typ":"JWT","x5c":["AQID"],"crit":["b64"],"b64":false,"jku":"u"}"#
    let header = try JWSHeader(decoding: Array(text.utf8))
    #expect(header.crit == ["b64"])
    #expect(header.unknownFields.map(\.name) == ["b64", "jku"])
    #expect(String(decoding: header.encoded(), as: UTF8.self) == text)
    let escaped = #"{"x5c":["\/+8="],"alg":"ES256"}"#
    #expect(try JWSHeader(decoding: Array(escaped.utf8)).x5c == [[0xFF, 0xEF]])
  }

  @Test func `Header syntax errors name the header`() {
    expectMalformed(.trailingData, at: .byteOffset(15, within: "JWS header")) { () throws(MalformedReceipt) in
      try JWSHeader(decoding: Array(#"{"alg":"ES256"}{}"#.utf8))
    }
  }
}
