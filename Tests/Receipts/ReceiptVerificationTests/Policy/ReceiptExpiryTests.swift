// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// An app receipt of the volume purchase programme has an expiry of its own, attribute 21.
@Suite struct ReceiptExpiryTests {
  private let end = Timestamp(secondsSince1970: 1_761_000_000)

  private func json(_ expirationDate: Timestamp?, at instant: Timestamp?) throws -> JSONValue {
    let receipt = try TestReceipts().appReceipt { $0.expirationDate = expirationDate }
    let verdict = try Fixture.verifier().verify(receipt)
    #expect(expectValid(verdict)?.expirationDate == expirationDate)
    var object = JSONWriter(type: "verdict")
    verdict.write(to: &object, at: instant)
    object.endObject()
    return try JSONValue(parsing: object.bytes)
  }

  @Test("the report on a verdict has the date, and whether it has passed where an instant is given")
  func report() throws {
    for (instant, isExpired) in [(end.addingSeconds(-1), false), (end, true)] {
      let found = try json(end, at: instant)
      #expect(found["expirationDate"]?.string == end.iso8601)
      #expect(found["isExpired"] == .bool(isExpired))
    }
    #expect(try json(end, at: nil)["isExpired"] == nil)
    let unlimited = try json(nil, at: end)
    #expect(unlimited["expirationDate"] == nil && unlimited["isExpired"] == nil)
  }
}
