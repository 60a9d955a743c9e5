// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import ReceiptHTTP
import Testing

@Suite struct RetryAfterTests {
  private let now = Timestamp(secondsSince1970: 1_700_000_000)

  @Test(
    "both spellings of Retry-After, and HTTP's date, name the same kind of instant",
    arguments: [
      ("7", 1_700_000_007.0), (" 0 ", 1_700_000_000), ("1700000030", 1_700_000_030),
      ("1700000030500", 1_700_000_030.5),
      ("Tue, 14 Nov 2023 22:13:50 GMT", 1_700_000_030),
    ])
  func accepted(value: String, seconds: Double) {
    #expect(RetryAfter.instant(value, now: now)?.millisecondsSince1970 == seconds * 1000)
  }

  @Test(
    "other values are ignored",
    arguments: ["", "-1", "soon", "1e3", "Tue, 14 Foo 2023 22:13:50 GMT", "99999999999999999999"])
  func refused(value: String) {
    #expect(RetryAfter.instant(value, now: now) == nil)
  }
}
