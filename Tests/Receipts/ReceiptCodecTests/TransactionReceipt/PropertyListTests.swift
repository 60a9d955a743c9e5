// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ReceiptCodec

@Suite("OpenStep property list")
struct PropertyListTests {
  private func entries(_ text: String) throws -> [String] {
    try PropertyList(parsing: Array(text.utf8)).entries.map { "\($0.key)=\($0.value)" }
  }

  private func expectFailure(
    _ code: MalformedReceipt.Code, at place: MalformedReceipt.Place, _ text: some Sequence<UInt8>,
    limits: ReceiptLimits = .standard, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: MalformedReceipt.self, sourceLocation: sourceLocation) {
      try PropertyList(parsing: Array(text), limits: limits)
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.place == place, sourceLocation: sourceLocation)
  }

  private func expectFailure(
    _ code: MalformedReceipt.Code, at offset: Int, _ text: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectFailure(
      code, at: .byteOffset(offset, within: "property list"), text.utf8, sourceLocation: sourceLocation)
  }

  @Test("Quoted and bare strings, any indentation, and both kinds of line end are read")
  func layouts() throws {
    #expect(try entries("{}") == [])
    #expect(try entries(" {\n\t\"a\" = \"1\";\n\t\"b\" = \"2\";\n}\n") == ["a=1", "b=2"])
    #expect(try entries("{\r\n    a = 1;\r\n    b-c.d:e/f_$ = x;\r\n  }\r\n") == ["a=1", "b-c.d:e/f_$=x"])
    #expect(try entries("{a=1;\"b c\"=\"\";}") == ["a=1", "b c="])
    #expect(try entries("{a=\"line\nbreak\";}") == ["a=line\nbreak"])
  }

  @Test("Escapes are those of OpenStep")
  func escapes() throws {
    #expect(try entries(#"{a="\"\\\'\n\t\r\a\b\v\f";}"#) == ["a=\"\\'\n\t\r\u{07}\u{08}\u{0B}\u{0C}"])
    #expect(try entries(#"{a="x\U00e9\U20AC\Ud83d\Ude00y";}"#) == ["a=xé€😀y"])
    #expect(try entries(#"{a="\101\7x\60";}"#) == ["a=A\u{07}x0"])
    #expect(try entries(#"{"\141"="é";}"#) == ["a=é"])
  }

  @Test("Escapes that do not exist are refused")
  func badEscapes() {
    expectFailure(.invalidValue, at: 4, #"{a="\x41";}"#)
    expectFailure(.invalidValue, at: 5, #"{a="x\U00g9";}"#)
    expectFailure(.invalidValue, at: 4, #"{a="\Ud83d";}"#)
    expectFailure(.invalidValue, at: 4, #"{a="\Ud83d\U0041";}"#)
    expectFailure(.invalidValue, at: 4, #"{a="\Ude00";}"#)
    expectFailure(.unsupported, at: 4, #"{a="\351";}"#)
    expectFailure(.truncated, at: 5, #"{a="\"#)
    expectFailure(.truncated, at: 8, #"{a="\U00"#)
  }

  /// Up to 32 keys are compared one by one, more are hashed.
  @Test(arguments: [1, 31, 32, 33, 34, 100])
  func `A key that occurs twice is refused wherever it stands`(count: Int) {
    let entries = (0..<count).map { "k\($0)=v;" }
    for index in [0, count / 2, count - 1] {
      let text = "{" + entries.joined() + "k\(index)=w;}"
      expectFailure(.duplicate, at: .propertyListKey("k\(index)"), text.utf8)
    }
  }

  @Test("Broken syntax is refused at the byte")
  func syntax() {
    expectFailure(.unexpected, at: 0, "[a]")
    expectFailure(.truncated, at: 1, "{")
    expectFailure(.truncated, at: 2, "{a")
    expectFailure(.truncated, at: 6, "{a = b")
    expectFailure(.truncated, at: 6, "{a=\"b;")
    expectFailure(.unexpected, at: 3, "{a : b;}")
    expectFailure(.unexpected, at: 4, "{a=b}")
    expectFailure(.unexpected, at: 1, "{;}")
    expectFailure(.unexpected, at: 3, "{a=;}")
    expectFailure(.trailingData, at: 3, "{} x")
    expectFailure(.unexpected, at: 4, "{a=\"\u{01}\";}")
    expectFailure(.unsupported, at: 3, "{a=(b);}")
    expectFailure(.unsupported, at: 3, "{a={};}")
    expectFailure(.unsupported, at: 3, "{a=<00>;}")
    expectFailure(.unsupported, at: 1, "{/* no */a=b;}")
    expectFailure(.unsupported, at: 6, "{a=b; // no\n}")
    expectFailure(.empty, at: .whole, " \n".utf8)
    expectFailure(.duplicate, at: .propertyListKey("a"), "{a=b;\"\\141\"=c;}".utf8)
    expectFailure(
      .invalidUTF8, at: .byteOffset(5, within: "property list"),
      [0x7B, 0x61, 0x3D, 0x22, 0x62, 0xFF, 0x22, 0x3B, 0x7D] as [UInt8])
    expectFailure(.tooLarge, at: .whole, "{a=b;}".utf8, limits: ReceiptLimits(maximumByteCount: 5))
    expectFailure(
      .tooLarge, at: .byteOffset(5, within: "property list"), "{a=b;c=d;}".utf8,
      limits: ReceiptLimits(maximumElementCount: 1))
  }

  @Test("What is written is read back, and looks as the App Store writes it")
  func writing() throws {
    var list = PropertyList()
    list["pod"] = "100"
    list["odd \"key\""] = "tab\t, back\\slash, line\n, é, 😀, \u{01}"
    list["gone"] = "x"
    list["gone"] = nil
    list["pod"] = "101"
    #expect(try PropertyList(parsing: list.encoded()) == list)
    let expected =
      "{\n\t\"pod\" = \"101\";\n\t\"odd \\\"key\\\"\" = "
      + "\"tab\\t, back\\\\slash, line\\n, \\U00e9, \\Ud83d\\Ude00, \\U0001\";\n}"
    #expect(String(decoding: list.encoded(), as: UTF8.self) == expected)
    #expect(list["pod"] == "101")
    #expect(list["gone"] == nil)
  }

  @Test("Many entries take time proportional to their number")
  func many() throws {
    let text = "{" + (0..<50_000).map { "k\($0)=v;" }.joined() + "}"
    #expect(try entries(text).count == 50_000)
  }
}

@Suite("Dates of transaction receipts")
struct PurchaseInfoDateTests {
  @Test(
    "Los Angeles changes to summer time and back by the rules of the year",
    arguments: [
      // Second Sunday of March and first Sunday of November, from 2007.
      ("2023-03-12T09:59:59Z", "2023-03-12 01:59:59 America/Los_Angeles"),
      ("2023-03-12T10:00:00Z", "2023-03-12 03:00:00 America/Los_Angeles"),
      ("2023-11-05T08:59:59Z", "2023-11-05 01:59:59 America/Los_Angeles"),
      ("2023-11-05T09:00:00Z", "2023-11-05 01:00:00 America/Los_Angeles"),
      ("2015-03-08T10:00:00Z", "2015-03-08 03:00:00 America/Los_Angeles"),
      ("2015-11-01T09:00:00Z", "2015-11-01 01:00:00 America/Los_Angeles"),
      ("2007-03-11T09:59:59Z", "2007-03-11 01:59:59 America/Los_Angeles"),
      // First Sunday of April and last Sunday of October, until 2006.
      ("2006-04-02T09:59:59Z", "2006-04-02 01:59:59 America/Los_Angeles"),
      ("2006-04-02T10:00:00Z", "2006-04-02 03:00:00 America/Los_Angeles"),
      ("2006-10-29T08:59:59Z", "2006-10-29 01:59:59 America/Los_Angeles"),
      ("2006-10-29T09:00:00Z", "2006-10-29 01:00:00 America/Los_Angeles"),
      ("1999-10-31T09:00:00Z", "1999-10-31 01:00:00 America/Los_Angeles"),
      // The year of Los Angeles, not of Greenwich.
      ("2024-01-01T07:59:59Z", "2023-12-31 23:59:59 America/Los_Angeles"),
    ])
  func losAngeles(instant: String, expected: String) throws {
    #expect(PurchaseInfoDate.losAngeles(try Timestamp(iso8601: instant)) == expected)
  }

  @Test("A date of Greenwich is read and written; a fraction is dropped towards the past")
  func greenwich() {
    let date = Timestamp(millisecondsSince1970: 1_354_432_554_999)
    #expect(PurchaseInfoDate.greenwich(date) == "2012-12-02 07:15:54 Etc/GMT")
    #expect(PurchaseInfoDate.greenwich(Timestamp(millisecondsSince1970: -1)) == "1969-12-31 23:59:59 Etc/GMT")
    #expect(
      PurchaseInfoDate.parse("2012-12-02 07:15:54 Etc/GMT") == Timestamp(secondsSince1970: 1_354_432_554))
    for text in [
      "2012-12-02 07:15:54", "2012-12-02T07:15:54 Etc/GMT", "2012-13-02 07:15:54 Etc/GMT", " Etc/GMT",
      "2012-12-01 23:15:54 America/Los_Angeles", "2012-12-02 07:15:54  Etc/GMT",
      "2012-12-02 07:15:54 Etc/UTC", "",
    ] {
      #expect(PurchaseInfoDate.parse(text) == nil)
    }
  }
}
