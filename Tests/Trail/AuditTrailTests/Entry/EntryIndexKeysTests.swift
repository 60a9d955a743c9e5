// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto
import Testing

@Suite struct EntryIndexKeysTests {
  @Test func theKeysAreThoseOfTheEntry() throws {
    let entry = try SampleEntry.entry()
    let bytes = try entry.encoded()
    let keys = try EntryIndexKeys(bytes)
    func text(_ range: Range<Int>?) -> [UInt8]? { range.map { Array(bytes[$0]) } }
    #expect(keys.time == entry.time)
    #expect(text(keys.kind) == Array("verdict".utf8))
    #expect(keys.id == nil)
    #expect(keys.receipt == entry.receipt)
    #expect(keys.encoding == entry.encoding)
    #expect(text(keys.transaction) == entry.transaction.map(EntryText.encoded))
    #expect(text(keys.original) == entry.original.map(EntryText.encoded))
    #expect(text(keys.product) == entry.product.map(EntryText.encoded))
    #expect(keys.verdict == .invalid)
    #expect(keys.policy == entry.policy)
    #expect(keys.previous == 41)
    #expect(keys.commitment == entry.commitment)
  }

  @Test func anEntryOfTimeAndKindHasNoOtherKeys() throws {
    let keys = try EntryIndexKeys(AuditEntry(EntryFacts(time: 5, kind: .erasure)).encoded())
    #expect(keys.receipt == nil && keys.original == nil && keys.transaction == nil && keys.product == nil)
    #expect(keys.verdict == nil && keys.policy == nil && keys.previous == nil && keys.commitment == nil)
  }

  @Test func theKeyOfARecordIsThatOfItsEntry() throws {
    var facts = SampleEntry.facts
    facts.original = "with space"
    func expectSameKey(_ facts: EntryFacts) throws {
      let bytes = try AuditEntry(facts, previous: 7).encoded()
      let key = try #require(ExactlyOnce.key(facts))
      #expect(ExactlyOnce.key(try EntryIndexKeys(bytes), in: bytes) == key)
    }
    try expectSameKey(facts)
    facts.encoding = facts.receipt
    try expectSameKey(facts)
    facts.id = "an id"
    try expectSameKey(facts)
    facts.receipt = nil
    try expectSameKey(facts)
  }

  @Test("with an identifier, kind and identifier make the key and nothing else does")
  func keyOfAnIdentifier() throws {
    var facts = SampleEntry.facts
    facts.id = "1"
    let key = try #require(ExactlyOnce.key(facts))
    #expect(ExactlyOnce.key(EntryFacts(time: 1, kind: .verdict, id: "1")) == key)
    #expect(ExactlyOnce.key(EntryFacts(time: 1, kind: .purchase, id: "1")) != key)
    #expect(ExactlyOnce.key(EntryFacts(time: 1, kind: .verdict, id: "2")) != key)
    // The same text, composed and decomposed, is two identifiers.
    let texts = ["\u{E9}", "e\u{301}"]
    #expect(Set(texts.map { ExactlyOnce.key(EntryFacts(time: 1, kind: .verdict, id: $0)) }).count == 2)
  }

  @Test("a product that begins like the digest of a policy is not taken for it")
  func productAfterThePolicy() throws {
    var facts = SampleEntry.facts
    facts.kind = .purchase
    facts.policy = SHA256Digest(hexadecimal: String(repeating: "41", count: 32))
    #expect(facts.policy != nil)
    facts.product = "b"
    let key = try #require(ExactlyOnce.key(facts))
    facts.policy = nil
    facts.product = String(repeating: "A", count: 32) + "b"
    #expect(ExactlyOnce.key(facts) != key)
  }

  @Test func whatCountsMakesAnotherKeyAndWhatDoesNotCountDoesNot() throws {
    let facts = SampleEntry.facts
    let key = try #require(ExactlyOnce.key(facts))
    func changed(_ change: (inout EntryFacts) -> Void) -> SHA256Digest? {
      var other = facts
      change(&other)
      return ExactlyOnce.key(other)
    }
    #expect(changed { $0.kind = .purchase } != key)
    #expect(changed { $0.receipt = SHA256Digest(of: [1]) } != key)
    #expect(changed { $0.original = "1" } != key)
    #expect(changed { $0.original = nil } != key)
    #expect(changed { $0.verdict = .valid } != key)
    #expect(changed { $0.verdict = nil } != key)
    #expect(changed { $0.policy = SHA256Digest(of: [1]) } != key)
    #expect(changed { $0.policy = nil } != key)
    #expect(changed { $0.encoding = $0.receipt } != key)
    #expect(changed { $0.id = "1" } != key)
    #expect(changed { $0.receipt = nil } == nil)
    #expect(changed { $0.encoding = SHA256Digest(of: [1]) } == key)
    #expect(changed { $0.format = nil } == key)
    #expect(changed { $0.time += 1 } == key)
    #expect(changed { $0.reason = "too-old" } == key)
    #expect(changed { $0.checks = [] } == key)
  }
}
