// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto
import Testing

@Suite struct AuditEntryTests {
  @Test func theWorkedExampleIsWhatTheDocumentationShows() throws {
    let bytes = try SampleEntry.entry().encoded()
    #expect(String(decoding: bytes, as: UTF8.self) == SampleEntry.text)
    #expect(try AuditEntry(parsing: Array(SampleEntry.text.utf8)) == SampleEntry.entry())
    #expect(bytes.count == 635)
  }

  @Test func everyLineIsReadBackAsItWasWritten() throws {
    var facts = SampleEntry.facts
    facts.kind = EntryKind(rawValue: "a kind of tomorrow")
    facts.revoked = -62_135_596_800_000
    facts.checks = [
      RecordedCheck(name: "first, of two", answer: .unavailable),
      RecordedCheck(name: "ä%\u{0}\u{7F}\n", answer: RecordedCheck.Answer(rawValue: "new word")),
    ]
    (facts.id, facts.notification, facts.subtype) = ("an id", "DID_RENEW", "a subtype of tomorrow")
    (facts.erased, facts.size, facts.newest, facts.count) = (0, .max, 10, 1)
    let entry = AuditEntry(facts, previous: 0, commitment: SHA256Digest(of: [1]))
    #expect(try AuditEntry(parsing: entry.encoded()) == entry)
  }

  @Test("every field of the table is a line, in the table's order, and is read back")
  func everyField() throws {
    let digest = SHA256Digest(of: [1])
    let lines = EntryField.allCases.map { field in
      switch (field, field.form) {
      case (.verdict, _): "verdict undetermined"
      case (_, .text): "\(field) the%20text%20of%20\(field)"
      case (_, .instant): "\(field) \(Int64.max)"
      case (_, .digest): "\(field) \(digest.base64)"
      case (_, .number), (_, .index): "\(field) \(UInt64.max)"
      case (_, .checks): "check a%20name an%20answer\ncheck another confirmed"
      }
    }
    let text = "receiptkit.dev/audit-entry@v2\n" + lines.map { $0 + "\n" }.joined()
    let entry = try AuditEntry(parsing: Array(text.utf8))
    #expect(try entry.encoded() == Array(text.utf8))
    #expect(EntryField.allCases.allSatisfy { entry[$0] != nil })
    // Together with its place, an entry has no other values than these.
    #expect(Mirror(reflecting: entry.facts).children.count + 2 == EntryField.allCases.count)
    let keys = try EntryIndexKeys(Array(text.utf8))
    #expect(
      keys.time == .max && keys.verdict == .undetermined && keys.erased == .max && keys.previous == .max)
    #expect(keys.receipt == digest && keys.commitment == digest)
  }

  @Test("the lines of a receipt stand in their order")
  func orderOfLines() throws {
    let (one, two) = (SHA256Digest(of: [1]), SHA256Digest(of: [2]))
    let facts = EntryFacts(
      time: 1, kind: .verdict, id: "i", format: "f", notification: "n", subtype: "s", receipt: one,
      encoding: two,
      transaction: "t")
    let text = """
      receiptkit.dev/audit-entry@v2
      time 1
      kind verdict
      id i
      format f
      notification n
      subtype s
      receipt \(one.base64)
      encoding \(two.base64)
      transaction t

      """
    #expect(try AuditEntry(facts).encoded() == Array(text.utf8))
  }

  @Test("an entry of version 1 is refused with its version")
  func version1() throws {
    let bytes = Array("receiptkit.dev/audit-entry@v1\ntime 1\nkind verdict\n".utf8)
    let error = try #require(throws: MalformedEntry.self) { try AuditEntry(parsing: bytes) }
    #expect(error.code == .version && error.line == 1)
    #expect(error.message.contains("version 1") && error.message.contains("Begin a new trail"))
    #expect(try #require(throws: MalformedEntry.self) { try EntryIndexKeys(bytes) } == error)
  }

  @Test func timeAndKindAreEnough() throws {
    let entry = AuditEntry(EntryFacts(time: 0, kind: .anchor))
    let text = "receiptkit.dev/audit-entry@v2\ntime 0\nkind anchor\n"
    #expect(try entry.encoded() == Array(text.utf8))
    #expect(try AuditEntry(parsing: Array(text.utf8)) == entry)
  }

  @Test func anyByteChangedIsRefusedOrAnotherEntryOfExactlyThoseBytes() throws {
    let bytes = try SampleEntry.entry().encoded()
    var accepted = 0
    for index in bytes.indices {
      for value in UInt8.min...UInt8.max where value != bytes[index] {
        var changed = bytes
        changed[index] = value
        guard let entry = try? AuditEntry(parsing: changed) else { continue }
        accepted += 1
        #expect(try entry.encoded() == changed)
        #expect(try entry != SampleEntry.entry())
      }
    }
    #expect(accepted > 0)
  }

  @Test func anyByteRemovedOrDoubledIsRefusedOrAnotherEntryOfExactlyThoseBytes() throws {
    let bytes = try SampleEntry.entry().encoded()
    for index in bytes.indices {
      var removed = bytes
      removed.remove(at: index)
      var doubled = bytes
      doubled.insert(bytes[index], at: index)
      for changed in [removed, doubled, Array(bytes[..<index])] {
        guard let entry = try? AuditEntry(parsing: changed) else { continue }
        #expect(try entry.encoded() == changed)
      }
    }
  }

  @Test func anyTwoLinesSwappedAreRefused() throws {
    let lines = SampleEntry.text.split(separator: "\n").map(String.init)
    for first in lines.indices {
      for second in lines.indices where second > first {
        var swapped = lines
        swapped.swapAt(first, second)
        let text = swapped.joined(separator: "\n") + "\n"
        #expect(throws: MalformedEntry.self) { try AuditEntry(parsing: Array(text.utf8)) }
      }
    }
  }

  @Test(arguments: [
    ("", MalformedEntry.Code.version, 1, 0),
    ("receiptkit.dev/audit-entry@v3\ntime 1\nkind verdict\n", .version, 1, 0),
    ("receiptkit.dev/audit-entry@v2\n", .truncated, 2, 30),
    ("receiptkit.dev/audit-entry@v2\ntime 1\n", .truncated, 3, 37),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict", .truncated, 3, 49),
    ("receiptkit.dev/audit-entry@v2\nkind verdict\n", .unexpectedLine, 2, 30),
    ("receiptkit.dev/audit-entry@v2\ntime 01\nkind verdict\n", .invalidValue, 2, 35),
    ("receiptkit.dev/audit-entry@v2\ntime -0\nkind verdict\n", .invalidValue, 2, 35),
    ("receiptkit.dev/audit-entry@v2\ntime -\nkind verdict\n", .invalidValue, 2, 36),
    ("receiptkit.dev/audit-entry@v2\ntime +1\nkind verdict\n", .invalidValue, 2, 35),
    ("receiptkit.dev/audit-entry@v2\ntime -1\nkind verdict\n", .outOfRange, 2, 35),
    ("receiptkit.dev/audit-entry@v2\ntime 9223372036854775808\nkind verdict\n", .outOfRange, 2, 35),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind \n", .emptyValue, 3, 42),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind a b\n", .invalidValue, 3, 43),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind a%2\n", .invalidValue, 3, 43),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind a%41\n", .invalidValue, 3, 43),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind a%0a\n", .invalidValue, 3, 43),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind a\rb\n", .invalidValue, 3, 43),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\n\n", .unexpectedLine, 4, 50),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\nnote 1\n", .unexpectedLine, 4, 50),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\nverdict maybe\n", .invalidValue, 4, 58),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\nreceipt AAAA\n", .invalidValue, 4, 58),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\ncheck name\n", .invalidValue, 4, 56),
    ("receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\ncheck a b c\n", .invalidValue, 4, 59),
    (
      "receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\nerased 18446744073709551616\n", .outOfRange, 4, 57
    ),
  ])
  func whatIsMalformedIsRefusedWithItsPlace(
    text: String, code: MalformedEntry.Code, line: Int, offset: Int
  ) throws {
    let error = try #require(throws: MalformedEntry.self) { try AuditEntry(parsing: Array(text.utf8)) }
    #expect(error.code == code)
    #expect(error.line == line)
    #expect(error.offset == offset)
  }

  @Test func bytesThatAreNoTextAreRefused() throws {
    let bytes = Array("receiptkit.dev/audit-entry@v2\ntime 1\nkind ".utf8) + [0xFF, 0x0A]
    let error = try #require(throws: MalformedEntry.self) { try AuditEntry(parsing: bytes) }
    #expect(error.code == .invalidValue)
    #expect(error.line == 3)
  }

  @Test("every byte that is reserved is encoded, wherever it stands in a text, and no other")
  func reservedBytesAtEveryPlace() throws {
    for byte in UInt8(0)...127 {
      let spelled =
        byte <= 0x20 || byte == 0x25 || byte == 0x7F
        ? "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        : String(UnicodeScalar(byte))
      for (before, after) in [(0, 0), (0, 9), (1, 3), (6, 1), (7, 0), (8, 8), (13, 2), (17, 1)] {
        func text(_ middle: String) -> String {
          String(repeating: "~", count: before) + middle + String(repeating: "!", count: after)
        }
        var facts = EntryFacts(time: 1, kind: .verdict)
        facts.product = text(String(UnicodeScalar(byte)))
        let bytes = try AuditEntry(facts).encoded()
        let lines = "receiptkit.dev/audit-entry@v2\ntime 1\nkind verdict\nproduct \(text(spelled))\n"
        #expect(bytes == Array(lines.utf8))
        #expect(try AuditEntry(parsing: bytes).product == facts.product)
      }
    }
  }

  @Test func whatNoEntryCanHoldIsNotWritten() throws {
    var facts = SampleEntry.facts
    facts.product = String(repeating: "p", count: 65535)
    #expect(try #require(throws: MalformedEntry.self) { try AuditEntry(facts).encoded() }.code == .tooLong)
    facts.product = ""
    #expect(try #require(throws: MalformedEntry.self) { try AuditEntry(facts).encoded() }.code == .emptyValue)
    facts.product = nil
    facts.time = -1
    #expect(try #require(throws: MalformedEntry.self) { try AuditEntry(facts).encoded() }.code == .outOfRange)

    var buffer: [UInt8] = [1, 2, 3]
    #expect(throws: MalformedEntry.self) {
      try AuditEntry.encode(
        AuditRecord(facts), time: -1, previous: nil, commitment: nil, into: &buffer)
    }
    #expect(buffer == [1, 2, 3])
  }

  @Test func theLongestEntryIsWrittenAndRead() throws {
    var facts = EntryFacts(time: 1, kind: .verdict)
    facts.product = "p"
    let others = try AuditEntry(facts).encoded().count - 1
    facts.product = String(repeating: "p", count: 65535 - others)
    let bytes = try AuditEntry(facts).encoded()
    #expect(bytes.count == 65535)
    #expect(try AuditEntry(parsing: bytes).product == facts.product)
    #expect(throws: MalformedEntry.self) { try AuditEntry(parsing: bytes + [0]) }
  }
}
