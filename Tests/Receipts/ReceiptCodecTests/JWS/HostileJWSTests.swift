// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

@testable import ReceiptCodec

@Suite("Hostile JWS")
struct HostileJWSTests {
  /// Reads everything there is to read; a failure is as good as a value.
  private func readAll(_ bytes: [UInt8]) {
    guard let jws = try? UnverifiedJWS(parsing: bytes) else { return }
    _ = try? jws.header().encoded()
    if let payload = try? jws.decoded().content {
      #expect((try? JWSPayload(decoding: payload.encoded(), as: payload.kind)) == payload)
    }
  }

  private static let sample = JWSWriter.compact(
    signingInput: JWSWriter.signingInput(
      header: JWSHeader(x5c: [[UInt8](repeating: 9, count: 50)], kid: "k", typ: "JWT"),
      payload: JWSPayload.transaction(JWSPayload.transactionSample).encoded()),
    signature: [UInt8](repeating: 7, count: 64))

  @Test func `Truncated at every byte, it is refused or incomplete`() throws {
    let whole = try UnverifiedJWS(parsing: Self.sample)
    for count in Self.sample.indices {
      let truncated = Array(Self.sample.prefix(count))
      readAll(truncated)
      if let jws = try? UnverifiedJWS(parsing: truncated) {
        #expect(jws.signature.count < whole.signature.count)
      }
    }
  }

  @Test func `With any bit flipped it is read differently or refused`() throws {
    let whole = try UnverifiedJWS(parsing: Self.sample)
    for index in Self.sample.indices {
      for bit in 0..<8 {
        var flipped = Self.sample
        flipped[index] ^= 1 << UInt8(bit)
        guard let jws = try? UnverifiedJWS(parsing: flipped) else { continue }
        let isSame =
          jws.payload == whole.payload && jws.signature == whole.signature
          && flipped[jws.encodedHeaderRange].elementsEqual(Self.sample[whole.encodedHeaderRange])
        #expect(!isSame, "bit \(bit) of byte \(index) makes no difference")
      }
    }
  }

  @Test func `Payloads truncated or with a bit flipped never crash the reader`() {
    #if ADDRESS_SANITIZER
      // Each costs several; the ordinary run takes all. Odd, since which bit is flipped follows from the byte's number.
      let step = 7
    #else
      let step = 1
    #endif
    for payload in JWSPayload.samples {
      let json = payload.encoded()
      for index in stride(from: 0, to: json.count, by: step) {
        if let read = try? JWSPayload(decoding: Array(json.prefix(index))) {
          Issue.record("a truncated payload was read as \(read.kind)")
        }
        // Every bit of the short ones, one bit of each byte of the long ones.
        let bits = json.count < 500 ? 0..<8 : index % 8..<index % 8 + 1
        for bit in bits {
          var flipped = json
          flipped[index] ^= 1 << UInt8(bit)
          guard let read = try? JWSPayload(decoding: flipped) else { continue }
          if (try? JWSPayload(decoding: read.encoded(), as: read.kind)) != read {
            Issue.record("bit \(bit) of byte \(index): what is written is not what was read")
          }
        }
      }
    }
  }

  @Test func `Random bytes never crash the reader`() {
    var generator = SplitMix(state: 20_251_001)
    let json = Array(#"{}[]":,.\u0123456789eE+-truefalsn "#.utf8)
    for round in 0..<5000 {
      let count = Int.random(in: 0..<120, using: &generator)
      let bytes = (0..<count).map { _ in
        round % 2 == 0
          ? UInt8.random(in: 0...255, using: &generator)
          : json[Int.random(in: 0..<json.count, using: &generator)]
      }
      readAll(bytes)
      if let value = try? JSONValue(parsing: bytes) {
        #expect((try? JSONValue(parsing: value.encoded())) == value)
      }
      _ = try? JWSPayload(decoding: bytes)
      _ = try? Base64.decode(bytes, allowingWhitespace: true)
      readAll(Array("eyJhbGciOiJFUzI1NiJ9.".utf8) + Base64URL.encode(bytes) + Array(".AA".utf8))
    }
  }

  @Test func `Large invalid input is refused at once`() {
    let limits = ReceiptLimits(maximumByteCount: 4 << 20)
    for byte in [UInt8(0), UInt8(ascii: "."), UInt8(ascii: "A"), UInt8(ascii: "["), UInt8(ascii: "\"")] {
      let rubbish = [UInt8](repeating: byte, count: 2 << 20)
      #expect(throws: MalformedReceipt.self) { () throws(MalformedReceipt) in
        try UnverifiedJWS(parsing: rubbish, limits: limits)
      }
      #expect(throws: MalformedReceipt.self) { () throws(MalformedReceipt) in
        try JWSPayload(decoding: rubbish, limits: limits)
      }
    }
  }

  /// A fixed sequence, so that a failure can be repeated.
  private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
