// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import Testing

@testable import Storefront

/// Signed texts are kept without what they have in common, and come back byte for byte.
@Suite struct PackedTextTests {
  private func jws(_ payload: String, header: String = #"{"alg":"ES256"}"#) -> String {
    [header, payload].map { Base64URL.encodeToString(Array($0.utf8)) }.joined(separator: ".") + "."
      + Base64URL.encodeToString([UInt8](repeating: 0xA5, count: 64))
  }

  @Test("a notification of the store takes a third of its text at most")
  func notification() async throws {
    let fixture = StoreFixture()
    let store = try fixture.store()
    _ = try await store.session(account: "alice").buy("gold", request: "1")
    let notification = try #require(try await store.notifications().first)
    var texts = SharedTexts()
    let packed = PackedText.pack(notification.signedPayload, &texts)
    // The three headers are the same text.
    #expect(texts.takeAdded().count == 1)
    #expect(packed.count * 3 < notification.signedPayload.utf8.count)
    #expect(PackedText.unpack(packed, texts) == Array(notification.signedPayload.utf8))
  }

  @Test("a text that is kept elsewhere is left out, and needed")
  func known() throws {
    var shared = SharedTexts()
    let inner = jws(#"{"a":1}"#)
    let outer = jws(#"{"x":""# + inner + #"","y":2}"#)
    let packed = PackedText.pack(outer, &shared, known: inner)
    #expect(packed.count < PackedText.pack(outer, &shared).count - 64)
    #expect(PackedText.unpack(packed, shared) == nil)
    #expect(PackedText.unpack(packed, shared, known: Array(inner.utf8)) == Array(outer.utf8))
    // One that is not in it makes no difference.
    #expect(PackedText.pack(inner, &shared, known: outer) == PackedText.pack(inner, &shared))
  }

  @Test("any text comes back as it was")
  func anyText() {
    let inner = jws(#"{"a":1}"#)
    let texts = [
      "", ".", "..", "a.b.c", "eyJ", inner, jws(""), jws(#"{"eyJ":"eyJ"}"#), jws("\"" + inner + "\""),
      jws(#"{"x":""# + inner + #"","y":""# + inner + #""}"#), jws(#"{"unclosed":""# + inner),
      jws(jws(jws(inner))), jws("\"" + jws("\"" + jws("\"" + inner + "\"") + "\"") + "\""),
      // Base64URL whose unused bits are not zero, with padding, and of a length that none has.
      "eyJhIjoxfQ.QR.QQ", "eyJhIjoxfQ.QQ==.QQ", "eyJhIjoxfQ.Q.QQ", inner + ".", "." + inner,
      inner + "\u{0}\u{e9}",
    ]
    var shared = SharedTexts()
    for text in texts {
      let packed = PackedText.pack(text, &shared)
      #expect(PackedText.unpack(packed, shared) == Array(text.utf8), "\(text)")
    }
  }

  @Test("headers beyond the greatest number are kept with their texts")
  func manyHeaders() {
    var shared = SharedTexts()
    for number in 0..<100 {
      let text = jws("{}", header: "\(number)")
      #expect(PackedText.unpack(PackedText.pack(text, &shared), shared) == Array(text.utf8))
    }
    #expect(shared.takeAdded().count == 64)
  }

  @Test("damaged bytes are no text, or another one")
  func damaged() {
    var shared = SharedTexts()
    let packed = PackedText.pack(jws(#"{"x":""# + jws("{}") + #""}"#), &shared)
    for length in packed.indices {
      #expect(PackedText.unpack(Array(packed[..<length]), shared) != PackedText.unpack(packed, shared))
    }
    for index in packed.indices {
      for bit in 0..<8 {
        var damaged = packed
        damaged[index] ^= 1 << bit
        _ = PackedText.unpack(damaged, shared)
      }
    }
    #expect(PackedText.unpack(packed, SharedTexts()) == nil)
    // Lengths that reach beyond the end, and nesting beyond the greatest depth.
    #expect(PackedText.unpack([1, 0xFF, 0xFF, 0xFF, 0x7F], shared) == nil)
    #expect(PackedText.unpack([1, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], shared) == nil)
    #expect(PackedText.unpack([4, 6, 4, 4, 4, 2, 4, 0], shared) == nil)
  }
}
