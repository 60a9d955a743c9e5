// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptCrypto
import Testing

@Suite struct ErasablePartTests {
  @Test(arguments: [nil, "", "7e3fb20b-4cdb-47cc-936d-99d65f608138"], [nil, [], [1, 2, 0]] as [[UInt8]?])
  func whatIsWrittenIsReadBack(token: String?, receipt: [UInt8]?) throws {
    let part = try ErasablePart(salt: SampleEntry.salt, receipt: receipt, customerToken: token)
    let bytes = part.encoded
    #expect(try ErasablePart.parse(bytes) == part)
    let range = try ErasablePart.tokenRange(in: bytes.span)
    #expect(range.map { Array(bytes[$0]) } == token.map { Array($0.utf8) })
  }

  @Test func theCommitmentIsTheHashOfTheBytes() throws {
    let part = try SampleEntry.part()
    #expect(part.commitment == SHA256Digest(of: part.encoded))
    #expect(part.commitment.base64 == "TZkKe9mFDrAxf/1Uubc0zDHcxu0Plmgrw8AYtdEJHVA=")
    #expect(part.encoded.count == 1 + 32 + 1 + 2 + 36 + 7)
  }

  @Test func anotherSaltIsAnotherCommitment() throws {
    var salt = SampleEntry.salt
    salt[31] ^= 1
    let other = try ErasablePart(salt: salt, receipt: nil, customerToken: "x")
    #expect(
      try other.commitment
        != ErasablePart(salt: SampleEntry.salt, receipt: nil, customerToken: "x").commitment)
  }

  @Test func zerosAreNoPart() throws {
    let zeros = [UInt8](repeating: 0, count: try SampleEntry.part().encoded.count)
    for bytes in [zeros, []] {
      #expect(throws: MalformedErasablePart.self) { try ErasablePart.parse(bytes) }
    }
  }

  @Test func anyByteChangedIsRefusedOrAnotherPartOfExactlyThoseBytes() throws {
    let bytes = try SampleEntry.part().encoded
    for index in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[index] ^= 1 << bit
        guard let part = try? ErasablePart.parse(changed) else { continue }
        #expect(part.encoded == changed)
      }
    }
  }

  @Test func whatIsMalformedIsRefusedWithItsPlace() throws {
    let bytes = try SampleEntry.part().encoded
    func error(_ bytes: [UInt8]) throws -> MalformedErasablePart {
      try #require(throws: MalformedErasablePart.self) { try ErasablePart.parse(bytes) }
    }
    #expect(try error([]).code == .truncated)
    #expect(try error([1]).code == .truncated)
    #expect(try error([2] + bytes.dropFirst()).code == .unknownMark)
    #expect(try error(Array(bytes[..<34])).offset == 34)
    #expect(try error(Array(bytes[..<40])).code == .truncated)
    var flags = bytes
    flags[33] = 7
    #expect(try error(flags).offset == 33)
    flags[33] = 2
    #expect(try error(flags).code == .trailingBytes)
    var text = bytes
    text[36] = 0xFF
    #expect(try error(text).code == .invalidText)
    #expect(throws: MalformedErasablePart.self) {
      try ErasablePart(salt: [1], receipt: nil, customerToken: nil)
    }
    #expect(throws: MalformedErasablePart.self) {
      try ErasablePart(
        salt: SampleEntry.salt, receipt: nil, customerToken: String(repeating: "x", count: 65536))
    }
  }

  @Test func aRecordIsEncodedLikeThePart() throws {
    let part = try SampleEntry.part()
    var bytes: [UInt8] = []
    let record = AuditRecord(
      SampleEntry.facts, receiptBytes: part.receipt, customerToken: part.customerToken)
    try record.encodeErasablePart(salt: part.salt.span, into: &bytes)
    #expect(bytes == part.encoded)
    bytes = []
    try AuditRecord(SampleEntry.facts).encodeErasablePart(salt: part.salt.span, into: &bytes)
    #expect(bytes.isEmpty)
  }
}
