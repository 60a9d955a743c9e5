// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import ReceiptCodec
  @testable import ReceiptService
  import Testing

  /// The three forms of a date in answers of `verifyReceipt`.
  @Suite struct VerifyReceiptDateTests {
    private static func date(_ seconds: Double) -> VerifyReceiptDate {
      VerifyReceiptDate(date: Timestamp(millisecondsSince1970: seconds * 1000))
    }

    @Test("an example of Apple's")
    func example() {
      let date = Self.date(1_706_955_630)
      #expect(date.gmt == "2024-02-03 10:20:30 Etc/GMT")
      #expect(date.milliseconds == "1706955630000")
      #expect(date.pacific == "2024-02-03 02:20:30 America/Los_Angeles")
    }

    @Test("the time of California is that of the system's time zones, on every day and at every change")
    func pacific() throws {
      let zone = try #require(TimeZone(identifier: "America/Los_Angeles"))
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
      formatter.timeZone = zone
      var instant = 1_215_658_800.0  // The opening of the App Store, in July 2008.
      var changes = 0
      while instant < 2_240_611_200 {
        let next = instant + 86_400
        if zone.secondsFromGMT(for: Date(timeIntervalSince1970: instant))
          != zone.secondsFromGMT(for: Date(timeIntervalSince1970: next))
        {
          changes += 1
          for second in stride(from: instant, to: next, by: 900) {
            for offset in [-1.0, 0, 1] {
              let expected = formatter.string(from: Date(timeIntervalSince1970: second + offset))
              #expect(Self.date(second + offset).pacific == "\(expected) America/Los_Angeles")
            }
          }
        }
        let expected = formatter.string(from: Date(timeIntervalSince1970: instant))
        #expect(Self.date(instant).pacific == "\(expected) America/Los_Angeles")
        instant = next
      }
      #expect(changes >= 60)
    }
  }
#endif
