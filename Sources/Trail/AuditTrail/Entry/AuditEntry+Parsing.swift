// SPDX-License-Identifier: Apache-2.0

extension AuditEntry {
  /// Reads an entry.
  ///
  /// It accepts exactly what ``encoded()`` writes: each entry has only one spelling.
  ///
  /// - Throws: ``MalformedEntry``, with the line and the byte.
  package init(parsing bytes: [UInt8]) throws(MalformedEntry) { try self.init(parsing: bytes.span) }

  /// Reads an entry that is part of a larger buffer.
  package init(parsing bytes: Span<UInt8>) throws(MalformedEntry) {
    guard bytes.count <= Self.maximumByteCount else {
      throw MalformedEntry(.tooLong, "An entry has at most \(Self.maximumByteCount) bytes.")
    }
    var reader = EntryReader()
    try reader.header(in: bytes)
    let timeOffset = reader.index + "time ".utf8.count
    let time = try Self.required(reader.instant("time ", in: bytes), "time", reader, in: bytes)
    guard time >= 0 else {
      throw MalformedEntry(.outOfRange, line: 2, offset: timeOffset, "An entry's time is not before 1970.")
    }
    let kind = try Self.required(reader.text("kind ", in: bytes), "kind", reader, in: bytes)
    var facts = EntryFacts(time: time, kind: EntryKind(rawValue: kind))
    facts.id = try reader.text("id ", in: bytes)
    facts.format = try reader.text("format ", in: bytes)
    facts.notification = try reader.text("notification ", in: bytes)
    facts.subtype = try reader.text("subtype ", in: bytes)
    facts.receipt = try reader.digest("receipt ", in: bytes)
    facts.encoding = try reader.digest("encoding ", in: bytes)
    facts.transaction = try reader.text("transaction ", in: bytes)
    facts.original = try reader.text("original ", in: bytes)
    facts.product = try reader.text("product ", in: bytes)
    facts.bundle = try reader.text("bundle ", in: bytes)
    facts.environment = try reader.text("environment ", in: bytes)
    facts.expires = try reader.instant("expires ", in: bytes)
    facts.revoked = try reader.instant("revoked ", in: bytes)
    facts.verdict = try reader.verdict(in: bytes)
    facts.reason = try reader.text("reason ", in: bytes)
    facts.signer = try reader.digest("signer ", in: bytes)
    facts.root = try reader.digest("root ", in: bytes)
    facts.policy = try reader.digest("policy ", in: bytes)
    while let check = try reader.check(in: bytes) { facts.checks.append(check) }
    facts.key = try reader.text("key ", in: bytes)
    facts.erased = try reader.number("erased ", in: bytes)
    facts.size = try reader.number("size ", in: bytes)
    facts.newest = try reader.number("newest ", in: bytes)
    facts.count = try reader.number("count ", in: bytes)
    let previous = try reader.number("previous ", in: bytes)
    let commitment = try reader.digest("commitment ", in: bytes)
    try reader.end(in: bytes)
    self.init(facts, previous: previous, commitment: commitment)
  }

  private static func required<Value>(
    _ value: Value?, _ key: String, _ reader: EntryReader, in bytes: Span<UInt8>
  ) throws(MalformedEntry) -> Value {
    if let value { return value }
    guard reader.index < bytes.count else {
      throw reader.failure(.truncated, at: bytes.count, "The entry ends before its \(key).")
    }
    throw reader.failure(.unexpectedLine, at: reader.index, "This must be the line of the \(key).")
  }
}

extension EntryReader {
  fileprivate mutating func verdict(in bytes: Span<UInt8>) throws(MalformedEntry) -> RecordedVerdict? {
    let line = self.line
    guard let value = try value("verdict ", in: bytes) else { return nil }
    guard let verdict = Self.verdict(value, in: bytes) else {
      throw MalformedEntry(
        .invalidValue, line: line, offset: value.lowerBound,
        "A verdict is valid, invalid or undetermined.")
    }
    return verdict
  }

  static func verdict(_ value: Range<Int>, in bytes: Span<UInt8>) -> RecordedVerdict? {
    // The three words differ in their first letter and length; the rest is compared nevertheless.
    let verdict: RecordedVerdict
    switch bytes[value.lowerBound] {
    case UInt8(ascii: "v"): verdict = .valid
    case UInt8(ascii: "i"): verdict = .invalid
    case UInt8(ascii: "u"): verdict = .undetermined
    default: return nil
    }
    let word = verdict.rawValue.utf8Span.span
    guard word.count == value.count else { return nil }
    for offset in word.indices where word[offset] != bytes[value.lowerBound + offset] { return nil }
    return verdict
  }

  fileprivate mutating func check(in bytes: Span<UInt8>) throws(MalformedEntry) -> RecordedCheck? {
    let line = self.line
    guard let value = try value("check ", in: bytes) else { return nil }
    guard let space = value.first(where: { bytes[$0] == 0x20 }), space > value.lowerBound,
      space + 1 < value.upperBound
    else {
      throw MalformedEntry(
        .invalidValue, line: line, offset: value.lowerBound, "A check is a name, a space and an answer.")
    }
    return RecordedCheck(
      name: try Self.text(value.lowerBound..<space, line: line, in: bytes),
      answer: RecordedCheck.Answer(
        rawValue: try Self.text(space + 1..<value.upperBound, line: line, in: bytes)))
  }
}
