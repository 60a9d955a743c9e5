// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// Reads a record from JSON, with the members that ``EntryReport`` prints.
enum RecordInput {
  struct Failure: Error {
    let message: String
  }

  /// Members of a report that are no fields of an entry.
  private static let passedOver: Set = ["type", "version", "index", "erasable"]

  static func record(_ line: [UInt8], now: Timestamp) throws(Failure) -> AuditRecord {
    let members: [JSONMember]
    do throws(MalformedReceipt) {
      guard case .object(let object) = try JSONValue(parsing: line) else {
        throw MalformedReceipt(.wrongType, at: .whole, "The line is not a JSON object.")
      }
      members = object
    } catch {
      throw Failure(message: error.description)
    }
    var facts = EntryFacts(time: Int64(now.millisecondsSince1970), kind: EntryKind(rawValue: ""))
    var receipt: [UInt8]?
    var customer: String?
    for member in members where !passedOver.contains(member.name) {
      if try read(member, into: &facts) { continue }
      switch member.name {
      case "customer": customer = RecordingOptions.canonicalCustomer(try text(member))
      case "receiptData":
        guard let bytes = try? Base64.decode(Array(try text(member).utf8)) else {
          throw Failure(message: "\"receiptData\" is not base64.")
        }
        receipt = bytes
      default:
        throw Failure(message: "Entries have no member \"\(ShownText.plain(member.name))\".")
      }
    }
    if let receipt { name(receipt, in: &facts) }
    guard !facts.kind.rawValue.isEmpty else {
      throw Failure(message: "The record has no \"kind\", such as \"verdict\".")
    }
    // Times never decrease along a trail. Later entries would get the time of an entry from the future instead of their
    // own.
    guard facts.time <= Int64(now.millisecondsSince1970) + 3_600_000 else {
      throw Failure(message: "\"time\" lies in the future.")
    }
    do throws(MalformedEntry) {
      // The longest encoding of the entry in any trail.
      let longest = AuditEntry(facts, previous: .max, commitment: SHA256Digest(of: []))
      _ = try longest.encoded()
    } catch {
      throw Failure(message: error.description)
    }
    return AuditRecord(facts, receiptBytes: receipt, customerToken: customer)
  }

  /// Sets the receipt digest if the record does not have it, in the same way as recording a verdict does. It is the
  /// digest of the signed content if the record's verdict or signer states a valid signature; otherwise that of the
  /// receipt's bytes.
  private static func name(_ receipt: [UInt8], in facts: inout EntryFacts) {
    let digests = ReceiptDigests(of: receipt)
    let isSignatureValid = facts.verdict == .valid || facts.signer != nil
    facts.receipt = facts.receipt ?? (isSignatureValid ? digests.identity : nil) ?? digests.encoding
    facts.encoding = facts.encoding ?? digests.encoding
  }

  /// Requires the value that a member states, or says after its name what is wrong.
  private static func require<Value>(
    _ value: Value?, _ member: JSONMember, _ problem: String
  ) throws(Failure) -> Value {
    guard let value else { throw Failure(message: "\"\(member.name)\" \(problem)") }
    return value
  }

  static func text(_ member: JSONMember) throws(Failure) -> String {
    let text = member.value.string.flatMap { $0.isEmpty ? nil : $0 }
    return try require(text, member, "takes a non-empty string.")
  }

  static func number(_ member: JSONMember) throws(Failure) -> UInt64 {
    let number = member.value.int64.flatMap(UInt64.init(exactly:)) ?? member.value.string.flatMap(UInt64.init)
    return try require(number, member, "takes a whole number.")
  }

  static func instant(_ member: JSONMember) throws(Failure) -> Int64 {
    if let milliseconds = member.value.int64 {
      let isDate = milliseconds.magnitude <= UInt64(Timestamp.greatestMagnitude)
      return try require(isDate ? milliseconds : nil, member, "is out of the range of dates.")
    }
    let instant = try require(
      member.value.string.flatMap { try? Timestamp(iso8601: $0) }, member,
      "takes an instant such as 2025-10-01T07:09:12Z, or milliseconds since 1970.")
    return Int64(instant.millisecondsSince1970.rounded(.down))
  }

  static func verdict(_ member: JSONMember) throws(Failure) -> RecordedVerdict {
    try require(RecordedVerdict(rawValue: text(member)), member, "is valid, invalid or undetermined.")
  }

  static func digest(_ member: JSONMember) throws(Failure) -> SHA256Digest {
    try require(digest(text(member)), member, "takes SHA-256 in hexadecimal or base64.")
  }

  static func digest(_ text: String) -> SHA256Digest? {
    SHA256Digest(hexadecimal: text) ?? SHA256Digest(base64: text)
  }

  static func checks(_ member: JSONMember) throws(Failure) -> [RecordedCheck] {
    guard let elements = member.value.array else { throw Failure(message: "\"checks\" takes an array.") }
    var checks: [RecordedCheck] = []
    for element in elements {
      guard let name = element["name"]?.string, let answer = element["answer"]?.string else {
        throw Failure(message: "Each of \"checks\" has a \"name\" and an \"answer\".")
      }
      checks.append(RecordedCheck(name: name, answer: RecordedCheck.Answer(rawValue: answer)))
    }
    return checks
  }
}
