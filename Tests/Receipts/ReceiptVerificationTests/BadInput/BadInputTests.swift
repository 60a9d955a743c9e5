// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec
import ReceiptBytes
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Testing

/// Hostile input through the verifier: a refusal with its reason, in bounded time.
@Suite(.serialized) struct BadInputTests {
  private static let hundredMegabytes = 100 << 20
  #if ADDRESS_SANITIZER
    // Every access costs several; the same code reads four.
    private static let megabytesOfOneByte = 4 << 20
  #else
    private static let megabytesOfOneByte = Sweep.isFull ? hundredMegabytes : hundredMegabytes / 4
  #endif
  private static let raised = ReceiptLimits(
    maximumByteCount: 200 << 20, maximumDepth: .max, maximumElementCount: .max)

  /// Signed content of the caller's making: the signature is right, so that the content is what is refused.
  private func signedAppReceipt(_ content: [UInt8]) throws -> [UInt8] {
    try AppReceiptSigner(unchecked: Fixture.rsa.identity).sign(content: content)
  }

  private func signedJWS(_ payload: some StringProtocol) throws -> [UInt8] {
    try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"ES256\""), payload: Array(payload.utf8))
  }

  private func expectMalformed(
    _ receipt: [UInt8], limits: ReceiptLimits = .standard, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let verdict = try Fixture.verifier(limits: limits).verify(receipt)
    guard case .invalid(let invalid) = verdict, invalid.reason.code == .malformed else {
      Issue.record("\(verdict.summary). \(comment ?? "")", sourceLocation: sourceLocation)
      return
    }
  }

  @Test("nothing, white space and single bytes are malformed")
  func tiny() throws {
    for bytes in [[], [0x20], [0x0A, 0x20]] as [[UInt8]] { try expectMalformed(bytes) }
    for byte in UInt8.min...UInt8.max { try expectMalformed([byte], "\(byte)") }
  }

  @Test("100 MB are too many by default, and are refused at once")
  func tooLarge() throws {
    for byte in [0x00, 0x30, UInt8(ascii: "A"), UInt8(ascii: "{")] {
      let bytes = [UInt8](repeating: byte, count: Self.hundredMegabytes)
      let elapsed = try ContinuousClock().measure { try expectMalformed(bytes) }
      #expect(elapsed < .seconds(1))
    }
  }

  @Test(
    "many MB of one byte, 100 in full sweeps, are malformed under a raised limit too",
    arguments: [0x00, 0x20, 0x30, 0x80, UInt8(ascii: "A"), UInt8(ascii: "{"), UInt8(ascii: "["), 0xFF])
  func oneByteOver(byte: UInt8) throws {
    let bytes = [UInt8](repeating: byte, count: Self.megabytesOfOneByte)
    try expectMalformed(bytes, limits: Self.raised)
  }

  // MARK: Depth

  @Test("depth bombs of JSON are refused, whatever the limit", arguments: ["[", "{\"a\":", "[{\"a\":"])
  func jsonDepth(unit: String) throws {
    let bomb = String(repeating: unit, count: 200_000)
    for limits in [.standard, Self.raised] {
      try expectMalformed(Array(bomb.utf8), limits: limits)
      try expectMalformed(Array("{\"signedPayload\":\(bomb)".utf8), limits: limits)
      try expectMalformed(try signedJWS("{\"transactionId\":\"1\",\"x\":\(bomb)}"), limits: limits)
      let header = try ForgedJWS.signed(header: ForgedJWS.header("\"alg\":\"ES256\",\"x\":\(bomb)"))
      try expectMalformed(header, limits: limits)
    }
    let closed = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    for limits in [.standard, Self.raised] {
      try expectMalformed(try signedJWS("{\"transactionId\":\"1\",\"x\":\(closed)}"), limits: limits)
    }
  }

  @Test("depth bombs of ASN.1 are refused, whatever the limit")
  func asn1Depth() throws {
    let indefinite = [UInt8](repeating: 0, count: 200_000).indices.map { UInt8($0 % 2 == 0 ? 0x30 : 0x80) }
    let constructed = indefinite.map { $0 == 0x30 ? 0x24 : $0 }
    for limits in [.standard, Self.raised] {
      try expectMalformed(indefinite, limits: limits)
      try expectMalformed(constructed, limits: limits)
      try expectMalformed(try signedAppReceipt(indefinite), limits: limits)
      // Inside the container, where pieces of pieces of the content stand.
      let container: [UInt8] =
        [0x30, 0x80, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02, 0xA0, 0x80]
        + [0x30, 0x80, 0x02, 0x01, 0x01, 0x31, 0x00, 0x30, 0x80]
        + [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01, 0xA0, 0x80]
      try expectMalformed(container + constructed, limits: limits)
    }
  }

  // MARK: Lengths

  @Test("wrong lengths are refused")
  func lengths() throws {
    for header: [UInt8] in [
      [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0xFF], [0x30, 0x81, 0x01],
      [0x30, 0x82, 0x00, 0x10], [0x30, 0x81],
    ] {
      try expectMalformed(header)
      try expectMalformed(header + [UInt8](repeating: 0, count: 64))
      try expectMalformed(try signedAppReceipt([0x31] + header.dropFirst()))
      try expectMalformed(try signedAppReceipt([0x31, UInt8(header.count)] + header))
    }
    for length: UInt32 in [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF] {
      let sample = try PropertyList(parsing: try Fixture.sample(.transactionReceipt))
      var blob = try Base64.decode(Array((sample["signature"] ?? "").utf8))
      for index in 0..<4 { blob[257 + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index))) }
      var list = sample
      list["signature"] = Base64.encodeToString(blob)
      expectInvalid(
        try Fixture.verifier().verify(list.encoded()), .malformed, at: "key \"signature\"")
    }
  }

  // MARK: Numbers of elements

  @Test("a million attributes are read, and more are refused")
  func manyAttributes() throws {
    func content(_ count: Int) -> [UInt8] {
      // 30 0B 02 03 TT TT TT 02 01 01 04 01 00, types from 65,536 on.
      var body: [UInt8] = []
      body.reserveCapacity(count * 13)
      for index in 0..<count {
        let type = 0x1_0000 + index
        body += [
          0x30, 0x0B, 0x02, 0x03, UInt8(type >> 16), UInt8(type >> 8 & 0xFF), UInt8(type & 0xFF), 0x02, 0x01,
          0x01, 0x04, 0x01, 0x00,
        ]
      }
      var writer = ASN1Writer()
      writer.write(.set, contents: body)
      return writer.bytes
    }
    let verifier = try Fixture.verifier { $0.bundleIds = .any }
    // Without a date or environment it is not valid, but it was read.
    expectUndetermined(
      verifier.verify(try signedAppReceipt(content(500_000))), .signingTimeMissing)
    try expectMalformed(try signedAppReceipt(content(1_000_001)))
  }

  @Test("a million in-app purchases are refused")
  func manyPurchases() throws {
    // 30 0A 02 01 11 02 01 01 04 02 31 00: an empty purchase.
    let purchase: [UInt8] = [0x30, 0x0A, 0x02, 0x01, 0x11, 0x02, 0x01, 0x01, 0x04, 0x02, 0x31, 0x00]
    let byteCount = 1_000_001 * purchase.count
    var purchases = purchase
    while purchases.count < byteCount { purchases += purchases }
    var writer = ASN1Writer()
    writer.write(.set, contents: Array(purchases.prefix(byteCount)))
    try expectMalformed(try signedAppReceipt(writer.bytes))
  }

  @Test("a million members of JSON are refused, and many certificates in x5c")
  func manyMembers() throws {
    let members = (0..<1_000_001).map { "\"a\($0)\":0" }.joined(separator: ",")
    try expectMalformed(try signedJWS("{\"transactionId\":\"1\",\(members)}"))
    let empty = String(repeating: "\"\",", count: 100_000) + "\"\""
    let header = Array("{\"alg\":\"ES256\",\"x5c\":[\(empty)]}".utf8)
    let receipt = ForgedJWS.joined(header: header, payload: ForgedJWS.samplePayload, signature: [1])
    expectInvalid(try Fixture.verifier().verify(receipt), .chainLength)
  }

  // MARK: Values

  @Test("signed payloads with duplicate members, wrong types and numbers beyond 64 bits are refused")
  func jsonValues() throws {
    let valid = String(decoding: ForgedJWS.samplePayload, as: UTF8.self)
    expectValid(try Fixture.verifier().verify(try signedJWS(valid)))
    for (member, place) in [
      ("\"transactionId\":\"2\"", "$.transactionId"), ("\"environment\":\"Production\"", "$.environment"),
      ("\"signedDate\":0", "$.signedDate"),
    ] {
      let twice = valid.dropLast() + ",\(member)}"
      expectInvalid(try Fixture.verifier().verify(try signedJWS(twice)), .malformed, at: place)
    }
    for (value, place) in [
      ("\"price\":99999999999999999999", "$.price"), ("\"price\":1.5", "$.price"),
      ("\"price\":\"1\"", "$.price"), ("\"signedDate\":1e400", "$.signedDate"),
      ("\"signedDate\":-1e300", "$.signedDate"), ("\"bundleId\":1", "$.bundleId"),
    ] {
      let payload = "{\"transactionId\":\"1\",\(value)}"
      expectInvalid(try Fixture.verifier().verify(try signedJWS(payload)), .malformed, at: place)
    }
    for garbage in ["", " ", "null", "[]", "\"\"", "{", "{}", "{\"transactionId\":\"1\"} x", "\u{FEFF}{}"] {
      try expectMalformed(try signedJWS(garbage), "\(garbage)")
    }
  }

  @Test("signed payloads that are not UTF-8 are refused")
  func invalidUTF8() throws {
    let header = try ForgedJWS.header("\"alg\":\"ES256\"")
    for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3]] {
      let payload = Array("{\"transactionId\":\"".utf8) + bytes + Array("\"}".utf8)
      try expectMalformed(try ForgedJWS.signed(header: header, payload: payload))
      var text = ASN1Writer()
      text.write(.utf8String, contents: bytes)
      let attribute = AppReceiptAttribute(type: 2, value: text.bytes[...])
      var set = ASN1Writer()
      set.writeSet(of: [attribute.encoded()])
      expectInvalid(
        try Fixture.verifier().verify(try signedAppReceipt(set.bytes)), .malformed, at: "attribute 2")
    }
  }

  @Test("the first and last representable dates get a verdict instead of a trap")
  func extremeDates() throws {
    let receipts = try Fixture.receipts
    for milliseconds in [
      -Timestamp.greatestMagnitude, -62_135_769_600_000, -1, 0, Timestamp.greatestMagnitude,
    ] {
      let date = Timestamp(millisecondsSince1970: milliseconds)
      let verdict = try Fixture.verifier().verify(try receipts.signedTransaction { $0.signedDate = date })
      #expect(
        verdict.reason?.code == (milliseconds > 0 ? .signedInFuture : .chainExpired), "\(milliseconds)")
    }
  }

  @Test("random bytes are refused", arguments: 0..<8)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let verifier = try Fixture.verifier()
    let prefixes: [[UInt8]] = [
      [], [0x30], [0x30, 0x80], Array("{".utf8), Array("{\"signature\" = \"".utf8), Array("eyJ".utf8),
      Array("MII".utf8),
    ]
    for _ in 0..<400 {
      let count = Int.random(in: 0...300, using: &random)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(!prefixes.contains { verifier.verify($0 + bytes).isValid })
    }
  }

  @Test("damaged receipts of every kind are refused or the same", arguments: Fixture.appStoreKinds)
  func damaged(kind: ReceiptKind) throws {
    let sample = try Fixture.sample(kind)
    let verifier = try Fixture.verifier {
      $0.environments = Set(ReceiptEnvironment.Category.allCases)
    }
    let genuine = try #require(expectValid(verifier.verify(sample)))
    var random = SeededGenerator(seed: 99)
    for _ in 0..<(Sweep.isFull ? 20_000 : 1500) {
      if let receipt = verifier.verify(random.damage(sample)).receipt {
        #expect(kind == .transactionReceipt ? receipt.hasSameSignedParts(as: genuine) : receipt == genuine)
      }
    }
  }

  @Test("time is linear in the size of hostile input")
  func linearTime() throws {
    let verifier = try Fixture.verifier(limits: Self.raised)
    let shapes: [(String, (Int) -> [UInt8])] = [
      ("base64 with white space", { Array(String(repeating: "MI ", count: $0 / 3).utf8) }),
      ("keys", { Array(("{" + (0..<$0 / 12).map { "k\($0) = v;" }.joined() + "}").utf8) }),
      ("escapes", { Array(("{ \"" + String(repeating: "\\\\", count: $0 / 2) + "\" = x; }").utf8) }),
      ("dots", { [UInt8](repeating: UInt8(ascii: "."), count: $0) }),
      ("members", { Array(("{" + (0..<$0 / 12).map { "\"k\($0)\":1" }.joined(separator: ",") + "}").utf8) }),
      (
        "pieces",
        { size in
          [0x30, 0x80, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02, 0xA0, 0x80]
            + [0x30, 0x80, 0x02, 0x01, 0x01, 0x31, 0x00, 0x30, 0x80]
            + [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01, 0xA0, 0x80, 0x24, 0x80]
            + [[UInt8]](repeating: [0x04, 0x01, 0x00], count: size / 3).flatMap { $0 }
        }
      ),
    ]
    for (name, make) in shapes {
      func time(_ size: Int) -> Duration {
        let input = make(size)
        return (0..<3).map { _ in ContinuousClock().measure { _ = verifier.verify(input) } }.min() ?? .zero
      }
      let small = time(100_000)
      let large = time(800_000)
      // Eight times the size; quadratic work would take 64 times as long.
      #expect(large < small * 32 + .milliseconds(20), "\(name): \(small), \(large)")
    }
  }
}
