// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Testing

/// The error that a reader throws in these tests.
struct ReadFailure: Error, Hashable {
  let fault: ASN1Fault
  let offset: Int
  let part: String
  let message: String
}

enum ReadErrors: ASN1Errors {
  static func error(
    _ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String
  ) -> ReadFailure {
    ReadFailure(fault: fault, offset: offset, part: part.description, message: message)
  }
}

@Suite("ASN.1 reader")
struct ASN1ReaderTests {
  /// Runs a body over a reader of all the bytes.
  private func read<Result>(
    _ bytes: [UInt8], rules: ASN1Rules = .der, depth: Int = 8,
    _ body: (inout ASN1Reader<ReadErrors>, Span<UInt8>) throws -> Result
  ) throws -> Result {
    let span = bytes.span
    var reader = ASN1Reader<ReadErrors>(0..<bytes.count, rules: rules, maximumDepth: depth, part: "test")
    return try body(&reader, span)
  }

  private func expectFailure(
    _ code: ASN1Fault, at offset: Int, _ bytes: [UInt8], rules: ASN1Rules = .der,
    depth: Int = 8, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (inout ASN1Reader<ReadErrors>, Span<UInt8>) throws -> Void
  ) {
    let error = #expect(throws: ReadFailure.self, sourceLocation: sourceLocation) {
      try read(bytes, rules: rules, depth: depth, body)
    }
    #expect(error?.fault == code, sourceLocation: sourceLocation)
    #expect(error?.offset == offset, sourceLocation: sourceLocation)
    #expect(error?.part == "test", sourceLocation: sourceLocation)
  }

  private static func skip(_ reader: inout ASN1Reader<ReadErrors>, _ bytes: Span<UInt8>) throws {
    _ = try reader.skip(bytes)
    try reader.requireEnd(bytes)
  }

  @Test("Lengths of one to five octets are read")
  func lengths() throws {
    for (count, header) in [
      (0, [0x04, 0x00]), (127, [0x04, 0x7F]), (128, [0x04, 0x81, 0x80]), (255, [0x04, 0x81, 0xFF]),
      (256, [0x04, 0x82, 0x01, 0x00]), (65_536, [0x04, 0x83, 0x01, 0x00, 0x00]),
    ] as [(Int, [UInt8])] {
      let bytes = header + [UInt8](repeating: 7, count: count)
      #expect(try read(bytes) { try $0.read(.octetString, $1) } == header.count..<bytes.count)
      var writer = ASN1Writer()
      writer.write(octetString: [UInt8](repeating: 7, count: count))
      #expect(writer.bytes == bytes)
    }
  }

  @Test("A length that is not minimally encoded is refused", arguments: [ASN1Rules.der, .ber])
  func nonMinimalLengths(rules: ASN1Rules) {
    expectFailure(.invalidValue, at: 1, [0x04, 0x81, 0x01, 0], rules: rules, Self.skip)
    expectFailure(
      .invalidValue, at: 1, [0x04, 0x81, 0x7F] + [UInt8](repeating: 0, count: 127), rules: rules, Self.skip)
    expectFailure(
      .invalidValue, at: 1, [0x04, 0x82, 0x00, 0x80] + [UInt8](repeating: 0, count: 128), rules: rules,
      Self.skip)
    expectFailure(.invalidValue, at: 1, [0x04, 0x84, 0x00, 0x00, 0x00, 0x01, 0], rules: rules, Self.skip)
  }

  @Test("The reserved length octet FF and lengths beyond 64 bits are refused")
  func impossibleLengths() {
    expectFailure(.invalidValue, at: 1, [0x04, 0xFF, 0, 0], Self.skip)
    expectFailure(.outOfRange, at: 1, [0x04, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0], Self.skip)
    expectFailure(.outOfRange, at: 1, [0x04, 0x88, 0xFF] + [UInt8](repeating: 0xFF, count: 7), Self.skip)
    expectFailure(.truncated, at: 0, [0x04, 0x88, 0x7F] + [UInt8](repeating: 0xFF, count: 7), Self.skip)
  }

  @Test("A value that ends after the input is truncated, one that ends after its parent is malformed")
  func lengthLies() {
    expectFailure(.truncated, at: 0, [0x04, 0x02, 0x00], Self.skip)
    expectFailure(.truncated, at: 1, [0x04], Self.skip)
    expectFailure(.truncated, at: 0, [], Self.skip)
    expectFailure(.truncated, at: 2, [0x04, 0x82], Self.skip)
    expectFailure(.invalidValue, at: 2, [0x30, 0x03, 0x04, 0x02, 0x00, 0x00]) {
      var inner = try $0.enter(.sequence, $1)
      _ = try inner.read(.octetString, $1)
    }
    expectFailure(.invalidValue, at: 3, [0x30, 0x01, 0x04, 0x00]) {
      var inner = try $0.enter(.sequence, $1)
      _ = try inner.read(.octetString, $1)
    }
  }

  @Test("Indefinite lengths are read under BER only, on constructed values only")
  func indefiniteLengths() throws {
    let bytes: [UInt8] = [0x30, 0x80, 0x02, 0x01, 0x05, 0x00, 0x00]
    let value = try read(bytes, rules: .ber) { (reader, span) throws -> Int64 in
      var inner = try reader.enter(.sequence, span)
      let value = try inner.readInt64(span)
      try reader.leave(inner, span)
      try reader.requireEnd(span)
      return value
    }
    #expect(value == 5)
    #expect(try read(bytes, rules: .ber) { try $0.skip($1) } == 0..<7)
    expectFailure(.unsupported, at: 1, bytes, Self.skip)
    expectFailure(.invalidValue, at: 1, [0x04, 0x80, 0x00, 0x00], rules: .ber, Self.skip)
    expectFailure(.unsupported, at: 0, bytes, rules: .ber) { _ = try $0.read(.sequence, $1) }
  }

  @Test("End-of-contents octets are required for indefinite lengths, and refused elsewhere")
  func endOfContents() {
    expectFailure(.truncated, at: 5, [0x30, 0x80, 0x02, 0x01, 0x05], rules: .ber, Self.skip)
    expectFailure(.truncated, at: 5, [0x30, 0x80, 0x02, 0x01, 0x05, 0x00], rules: .ber, Self.skip)
    expectFailure(.invalidValue, at: 4, [0x30, 0x02, 0x30, 0x80, 0x00, 0x00], rules: .ber) {
      var inner = try $0.enter(.sequence, $1)
      _ = try inner.skip($1)
    }
    expectFailure(.unexpected, at: 0, [0x00, 0x00], rules: .ber, Self.skip)
    expectFailure(.unexpected, at: 2, [0x30, 0x02, 0x00, 0x00]) {
      var inner = try $0.enter(.sequence, $1)
      _ = try inner.skip($1)
    }
    expectFailure(.unexpected, at: 0, [0x20, 0x00], rules: .ber, Self.skip)
  }

  @Test("Trailing bytes are refused inside a value and behind it")
  func trailingBytes() {
    expectFailure(.trailingData, at: 2, [0x05, 0x00, 0x05, 0x00], Self.skip)
    expectFailure(.trailingData, at: 4, [0x30, 0x04, 0x05, 0x00, 0x05, 0x00]) {
      var inner = try $0.enter(.sequence, $1)
      try inner.readNull($1)
      try $0.leave(inner, $1)
    }
    expectFailure(.trailingData, at: 4, [0x30, 0x80, 0x05, 0x00, 0x05, 0x00, 0x00, 0x00], rules: .ber) {
      var inner = try $0.enter(.sequence, $1)
      try inner.readNull($1)
      try $0.leave(inner, $1)
    }
  }

  @Test("Another tag than the expected one is refused")
  func unexpectedTag() {
    expectFailure(.unexpected, at: 0, [0x04, 0x00]) { _ = try $0.read(.integer, $1) }
    expectFailure(.unexpected, at: 0, [0x10, 0x00]) { _ = try $0.enter(.sequence, $1) }
  }

  @Test("Tag numbers in the long form are read, but not if the short form is possible")
  func longTags() throws {
    let tag = try read([0x9F, 0x81, 0x01, 0x00]) { try $0.nextTag($1) }
    #expect(tag == .contextSpecific(129))
    #expect(tag?.octets == [0x9F, 0x81, 0x01])
    expectFailure(.invalidValue, at: 0, [0x9F, 0x1E, 0x00], Self.skip)
    expectFailure(.invalidValue, at: 0, [0x9F, 0x80, 0x81, 0x00, 0x00], Self.skip)
    expectFailure(.outOfRange, at: 0, [0x9F, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0x00], Self.skip)
    expectFailure(.truncated, at: 2, [0x9F, 0x81], Self.skip)
  }

  @Test("Integers keep their value")
  func integers() throws {
    for value in [0, 1, 127, 128, 255, 256, 32_767, 32_768, -1, -128, -129, Int64.max, Int64.min] {
      var writer = ASN1Writer()
      writer.write(integer: value)
      #expect(try read(writer.bytes) { try $0.readInt64($1) } == value)
    }
  }

  @Test("Integers with needless octets, none, or more than 64 bits are refused")
  func badIntegers() {
    for rules in [ASN1Rules.der, .ber] {
      expectFailure(.invalidValue, at: 0, [0x02, 0x02, 0x00, 0x7F], rules: rules) { _ = try $0.readInt64($1) }
      expectFailure(.invalidValue, at: 0, [0x02, 0x02, 0xFF, 0x80], rules: rules) { _ = try $0.readInt64($1) }
      expectFailure(.invalidValue, at: 0, [0x02, 0x00], rules: rules) { _ = try $0.readInt64($1) }
      expectFailure(.outOfRange, at: 0, [0x02, 0x09, 0, 0xFF, 0, 0, 0, 0, 0, 0, 0], rules: rules) {
        _ = try $0.readInt64($1)
      }
    }
    expectFailure(.invalidValue, at: 0, [0x05, 0x01, 0x00]) { try $0.readNull($1) }
  }

  @Test("A constructed octet string, also a nested one, is read under BER")
  func constructedOctetStrings() throws {
    let bytes: [UInt8] = [
      0x24, 0x80, 0x04, 0x01, 0xAA, 0x24, 0x06, 0x04, 0x01, 0xBB, 0x04, 0x01, 0xCC, 0x00, 0x00,
    ]
    let pieces = try read(bytes, rules: .ber) { (reader, span) throws -> [Range<Int>] in
      let pieces = try reader.readOctetString(span)
      try reader.requireEnd(span)
      return pieces
    }
    #expect(pieces == [4..<5, 9..<10, 12..<13])
    #expect(try read([0x24, 0x00], rules: .ber) { try $0.readOctetString($1) } == [])
    expectFailure(.unsupported, at: 1, bytes) { _ = try $0.readOctetString($1) }
    expectFailure(.unexpected, at: 0, [0x24, 0x00]) { _ = try $0.readOctetString($1) }
    expectFailure(.unexpected, at: 2, [0x24, 0x03, 0x02, 0x01, 0x00], rules: .ber) {
      _ = try $0.readOctetString($1)
    }
  }

  @Test("Nesting beyond the limit is refused without recursion", arguments: [100, 1_000_000])
  func depthBombs(depth: Int) {
    let definite = [UInt8](repeating: 0, count: depth).flatMap { _ in [0x24, 0x80] as [UInt8] }
    expectFailure(.tooDeep, at: 16, definite, rules: .ber) { _ = try $0.readOctetString($1) }
    let sequences = [UInt8](repeating: 0, count: depth).flatMap { _ in [0x30, 0x80] as [UInt8] }
    expectFailure(.tooDeep, at: 16, sequences, rules: .ber) { _ = try $0.skip($1) }
    expectFailure(.tooDeep, at: 16, sequences, rules: .ber) { reader, bytes in
      var readers = [reader]
      while let last = readers.last { readers.append(try last.enter(.sequence, bytes)) }
    }
    expectFailure(.tooDeep, at: 0, [0x05, 0x00], depth: 0) { reader, _ in _ = try reader.nested(0..<2) }
  }
}

@Suite("Object identifiers")
struct ObjectIdentifierTests {
  @Test(
    "Dotted spelling and contents octets agree",
    arguments: [
      ("1.2.840.113549.1.7.2", [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]),
      ("2.999", [0x88, 0x37]), ("0.39", [0x27]), ("1.0", [0x28]), ("2.39.0", [0x77, 0x00]),
      ("1.2.18446744073709551615", [0x2A, 0x81, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
    ] as [(String, [UInt8])])
  func spellings(dotted: String, contents: [UInt8]) {
    #expect(ObjectIdentifier(dotted)?.contents == contents)
    #expect(ObjectIdentifier(contents: contents)?.description == dotted)
  }

  @Test(
    "Malformed spellings are refused",
    arguments: [
      "", "1", "3.1", "1.40", "1..2", "1.2.", ".1.2", "1.02", "1.a", "1.-1", "1.18446744073709551616",
    ])
  func badSpellings(dotted: String) {
    #expect(ObjectIdentifier(dotted) == nil)
  }

  @Test(
    "Malformed contents are refused",
    arguments: [
      [], [0x80], [0x2A, 0x80, 0x01], [0x2A, 0x86],
      [0x2A, 0x83, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F],
    ] as [[UInt8]])
  func badContents(contents: [UInt8]) {
    #expect(ObjectIdentifier(contents: contents) == nil)
  }
}

@Suite("ASN.1 writer")
struct ASN1WriterTests {
  @Test("A SET OF is sorted by its encoded elements")
  func sets() {
    var writer = ASN1Writer()
    writer.writeSet(of: [[0x04, 0x01, 0x02], [0x02, 0x01, 0x05], [0x04, 0x01, 0x01], [0x04, 0x00]])
    #expect(writer.bytes == [0x31, 0x0B, 0x02, 0x01, 0x05, 0x04, 0x00, 0x04, 0x01, 0x01, 0x04, 0x01, 0x02])
  }

  @Test("Strings, NULL and object identifiers have their tags")
  func values() throws {
    var writer = ASN1Writer()
    writer.write(.sequence) { sequence in
      sequence.write(utf8String: "é")
      sequence.write(ia5String: "e")
      sequence.writeNull()
      if let identifier = ObjectIdentifier("2.999") { sequence.write(identifier) }
    }
    #expect(
      writer.bytes == [
        0x30, 0x0D, 0x0C, 0x02, 0xC3, 0xA9, 0x16, 0x01, 0x65, 0x05, 0x00, 0x06, 0x02, 0x88, 0x37,
      ])
  }
}

@Suite("ASN.1 elements")
struct ASN1ElementTests {
  @Test(
    "Only the DER encoding is canonical",
    arguments: [
      ([0x01, 1, 0xFF], true), ([0x01, 1, 0x01], false), ([0x01, 0], false), ([0x02, 1, 0x00], true),
      ([0x02, 0], false), ([0x02, 2, 0x00, 0x7F], false), ([0x02, 2, 0x00, 0x80], true),
      ([0x02, 2, 0xFF, 0x80], false), ([0x0A, 1, 1], true), ([0x03, 2, 1, 0x80], true),
      ([0x03, 2, 1, 0x81], false), ([0x03, 1, 0], true), ([0x03, 1, 1], false), ([0x03, 2, 8, 0], false),
      ([0x05, 0], true), ([0x05, 1, 0], false), ([0x24, 2, 4, 0], false), ([0x10, 0], false),
      ([0x11, 0], false), ([0x30, 0], true), ([0x31, 0], true), ([0x80, 1, 0], true),
      ([0xA0, 0], true), ([0x0C, 1, 0x61], true),
    ] as [([UInt8], Bool)])
  func canonical(bytes: [UInt8], isCanonical: Bool) throws {
    var reader = ASN1Reader<ReadErrors>(bytes.indices, part: "test")
    let element = try reader.readElement(bytes.span)
    try reader.requireEnd(bytes.span)
    #expect(element.encoded == bytes.indices)
    #expect(element.isCanonical(in: bytes.span) == isCanonical)
  }

  @Test("Named bits have no zero bits at the end")
  func namedBits() {
    #expect(ASN1Writer.encoding { $0.write(namedBits: 0b110_0000) } == [0x03, 2, 1, 0x06])
    #expect(ASN1Writer.encoding { $0.write(namedBits: 1) } == [0x03, 2, 7, 0x80])
    #expect(ASN1Writer.encoding { $0.write(namedBits: 0x100) } == [0x03, 3, 7, 0, 0x80])
    #expect(ASN1Writer.encoding { $0.write(boolean: true) } == [0x01, 1, 0xFF])
  }
}
