// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// An order of several products at Google Play is as many purchases.
@Suite struct SeveralProductsTests {
  private func verified(_ change: (inout GooglePlayPurchase) -> Void) throws -> Verdict {
    try Fixture.verifierOfAllStores().verify(TestReceipts().googlePlayPurchase(change))
  }

  private static let cases: [(one: String?, several: [String]?, products: [String?])] = [
    (nil, ["a", "b"], ["a", "b"]), ("a", ["a", "b"], ["a", "b"]), ("c", ["a", "b"], ["c", "a", "b"]),
    (nil, ["a", "a"], ["a"]), ("a", nil, ["a"]), ("a", [], ["a"]), (nil, ["", "b"], ["b"]), (nil, [], [nil]),
    // Equal only by canonical equivalence.
    (nil, ["Ren\u{E9}", "Rene\u{301}"], ["Ren\u{E9}", "Rene\u{301}"]),
  ]

  @Test("each product is a purchase with the order, token, date and quantity", arguments: cases)
  func transactions(one: String?, several: [String]?, products: [String?]) throws {
    let receipt = try #require(
      expectValid(
        try verified {
          $0.productId = one
          $0.productIds = several
          $0.quantity = 3
        }))
    #expect(
      receipt.transactions.map { $0.productId.map { Array($0.utf8) } }
        == products.map { $0.map { Array($0.utf8) } })
    let sample = SampleReceipts.googlePlayPurchase
    for transaction in receipt.transactions {
      #expect(transaction.transactionId == sample.orderId)
      #expect(transaction.purchaseToken == sample.purchaseToken)
      #expect(transaction.purchaseDate == sample.purchaseTime)
      #expect(transaction.quantity == 3)
    }
  }

  private func json(_ verdict: Verdict) throws -> JSONValue {
    var object = JSONWriter(type: "verdict")
    verdict.write(to: &object, at: nil)
    object.endObject()
    return try JSONValue(parsing: object.bytes)
  }

  @Test("the report on a verdict has all, paid or not")
  func report() throws {
    let paid = try json(
      verified {
        $0.productId = nil
        $0.productIds = ["a", "b"]
      })
    #expect(paid["transactions"]?.array?.map { $0["productId"]?.string } == ["a", "b"])
    let pending = try json(
      verified {
        $0.productId = nil
        $0.productIds = ["a", "b"]
        $0.purchaseState = .pending
      })
    #expect(pending["transactions"]?.array?.isEmpty == true)
    #expect(pending["unpaidPurchases"]?.array?.map { $0["productId"]?.string } == ["a", "b"])
  }

  @Test("orders of several products in a list of 2011 are told apart")
  func list() throws {
    let list = GooglePlayOrderList(orders: [
      SampleReceipts.googlePlayPurchase.with {
        $0.productId = nil
        $0.productIds = ["a", "b"]
      },
      SampleReceipts.googlePlayPurchase.with {
        $0.orderId = "other"
        $0.productId = "c"
      },
    ])
    #expect(DetachedContent.googlePlayOrders(list).transactions.map(\.productId) == ["a", "b", "c"])
  }
}
