// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Testing

@Suite("Timestamp formats")
struct TimestampFormatTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (1_759_302_552_835, "2025-10-01T07:09:12.835Z"),
    (-1, "1969-12-31T23:59:59.999Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    (-62_135_769_600_000, "0000-12-30T00:00:00.000Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (4_107_542_399_000, "2100-02-28T23:59:59.000Z"), (64_092_211_200_000, "4001-01-01T00:00:00.000Z"),
  ])
  func `Instants are written and read`(milliseconds: Double, text: String) throws {
    let timestamp = Timestamp(millisecondsSince1970: milliseconds)
    #expect(timestamp.iso8601 == text)
    #expect(try Timestamp(iso8601: text) == timestamp)
    #expect(timestamp.iso8601Seconds == text.prefix(19) + "Z")
  }

  @Test func `A fraction of a millisecond is dropped towards the past`() {
    #expect(Timestamp(millisecondsSince1970: 1_697_679_936_049.7297).iso8601 == "2023-10-19T01:45:36.049Z")
    #expect(Timestamp(millisecondsSince1970: -0.5).iso8601 == "1969-12-31T23:59:59.999Z")
    #expect(Timestamp(millisecondsSince1970: -0.5).iso8601Seconds == "1969-12-31T23:59:59Z")
  }

  @Test(arguments: [
    ("2020-08-01T12:00:00+0300", 1_596_272_400_000), ("2020-08-01T12:00:00+03:00", 1_596_272_400_000),
    ("2020-08-01T12:00:00-0130", 1_596_288_600_000), ("2020-08-01T12:00:00.5Z", 1_596_283_200_500),
    ("2020-08-01T12:00:00.000250Z", 1_596_283_200_000.25),
    ("2020-08-01T12:00:00.1234567891234Z", 1_596_283_200_123.456789),
    ("2020-08-01T12:00:00.999-00:00", 1_596_283_200_999), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
  ])
  func `Offsets and fractions are read`(text: String, milliseconds: Double) throws {
    #expect(try Timestamp(iso8601: text).millisecondsSince1970 == milliseconds)
  }

  @Test(arguments: [
    "", "2020-08-01", "2020-08-01T12:00:00", "2020-08-01 12:00:00Z", "2020-08-01T12:00:00z",
    "2020-08-01t12:00:00Z", "2020-08-01T12:00:00.Z", "2020-08-01T12:00:00,5Z", "2020-13-01T12:00:00Z",
    "2020-00-01T12:00:00Z", "2020-04-31T12:00:00Z", "2023-02-29T12:00:00Z", "2100-02-29T12:00:00Z",
    "2020-08-00T12:00:00Z", "2020-08-01T24:00:00Z", "2020-08-01T12:60:00Z", "2020-08-01T12:00:60Z",
    "2020-08-01T12:00:00+3", "2020-08-01T12:00:00+24:00", "2020-08-01T12:00:00+03:60",
    "2020-08-01T12:00:00+03-00", "2020-08-01T12:00:00Z ", " 2020-08-01T12:00:00Z", "20200801T120000Z",
    "+020-08-01T12:00:00Z", "2020-08-01T12:00:00.1é", "2020-08-01T12:00:00ZZ", "２020-08-01T12:00:00Z",
    "2020-0:-01T12:00:00Z", "2020-08-0:T12:00:00Z", "1:20-08-01T12:00:00Z", "2020-08-01T0;:00:00Z",
    "2020-08-01T12:00:00.5",
  ])
  func `Any other text is refused`(text: String) {
    do throws(MalformedReceipt) {
      _ = try Timestamp(iso8601: text)
      Issue.record("accepted")
    } catch {
      #expect(error.code == .invalidValue)
      #expect(error.place == .whole)
    }
  }

  @Test func `Numbers out of all range are still written`() {
    #expect(Timestamp(millisecondsSince1970: .nan).iso8601 == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp(millisecondsSince1970: .infinity).iso8601 == "+287396-10-12T08:59:00.992Z")
    #expect(Timestamp(millisecondsSince1970: -.infinity).iso8601 == "-283457-03-21T15:00:59.008Z")
    #expect(Timestamp(millisecondsSince1970: 253_402_300_800_000).iso8601 == "+010000-01-01T00:00:00.000Z")
  }

  @Test func `Every day of four centuries converts there and back`() throws {
    var seconds: Int64 = -62_167_219_200
    for year in 1896...2304 {
      for month in 1...12 {
        for day in 1...CivilDateTime.dayCount(ofMonth: month, year: year) {
          let date = try #require(CivilDateTime(year: year, month: month, day: day))
          if year == 1896, month == 1, day == 1 { seconds = date.secondsSince1970 }
          guard date.secondsSince1970 == seconds, CivilDateTime(secondsSince1970: seconds) == date else {
            Issue.record("\(year)-\(month)-\(day)")
            return
          }
          seconds += 86_400
        }
      }
    }
  }

  @Test func `Property-list dates share the calendar`() throws {
    let text = Array("2012-12-02 07:15:54".utf8)
    let parsed = CivilDateTime(text.span, separator: UInt8(ascii: " "))
    let date = try #require(parsed)
    #expect(date.secondsSince1970 == 1_354_432_554)
    #expect(date.text(separator: UInt8(ascii: " ")) == text)
  }
}
