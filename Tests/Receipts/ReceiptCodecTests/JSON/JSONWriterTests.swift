// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Testing

@Suite("JSON writing")
struct JSONWriterTests {
  @Test func `Only characters that require it are escaped`() {
    let text = "\"\\/\u{8}\u{C}\n\r\t\u{1}\u{1F}\u{7F}é€😀<&"
    let expected = #""\"\\/\u0008\u000C\n\r\t\u0001\u001F"# + "\u{7F}é€😀<&\""
    #expect(String(decoding: JSONValue.string(text).encoded(), as: UTF8.self) == expected)
  }

  @Test func `Every escaped character is read back`() throws {
    for value in UInt32(0)..<0x300 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = "a\(scalar)b"
      let members = JSONValue.object([JSONMember(name: text, value: .string(text))])
      #expect(try JSONValue(parsing: members.encoded()) == members)
    }
  }

  @Test func `A document is written incrementally`() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("a")
    writer.beginArray()
    writer.integer(-1)
    writer.double(0.25)
    writer.double(2)
    writer.double(.infinity)
    writer.bool(true)
    writer.null()
    writer.beginObject()
    writer.endObject()
    writer.endArray()
    writer.name("b")
    writer.value(.array([.string("x"), .object([JSONMember(name: "c", value: .bool(false))])]))
    writer.endObject()
    let expected = #"{"a":[-1,0.25,2,null,true,null,{}],"b":["x",{"c":false}]}"#
    #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
  }

  @Test func `Integers of any width are written in decimal`() {
    var values: [Int64] = [.min, .min + 1, -1, 0, .max]
    var power: Int64 = 1
    for _ in 1..<19 {
      values += [power - 1, power, power + 1, 9 * power]
      power *= 10
    }
    for value in values {
      var writer = JSONWriter()
      writer.integer(value)
      #expect(String(decoding: writer.bytes, as: UTF8.self) == String(value))
    }
  }

  @Test func `Dates are written as ISO 8601, those of years beyond four digits among them`() {
    for (milliseconds, text) in [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (1_759_302_552_835, "2025-10-01T07:09:12.835Z"),
      (Timestamp.greatestMagnitude, "+287396-10-12T08:59:00.992Z"),
      (-Timestamp.greatestMagnitude, "-283457-03-21T15:00:59.008Z"),
    ] {
      let timestamp = Timestamp(millisecondsSince1970: milliseconds)
      var writer = JSONWriter()
      writer.timestamp(timestamp)
      #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"\(text)\"")
      #expect(timestamp.iso8601 == text)
    }
  }

  @Test func `Lines that one writer wrote are values of their own`() {
    var writer = JSONWriter()
    for number in 1...2 {
      writer.beginObject()
      writer.name("\"")
      writer.integer(Int64(number))
      writer.name("b")
      writer.string("\n")
      writer.endObject()
      writer.endLine()
    }
    let expected = #"{"\"":1,"b":"\n"}"# + "\n" + #"{"\"":2,"b":"\n"}"# + "\n"
    #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
  }
}
