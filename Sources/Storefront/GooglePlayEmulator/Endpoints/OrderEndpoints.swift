// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
internal import Storefront

/// The endpoints `orders` and `purchases.voidedpurchases.list`.
enum OrderEndpoints {
  static let routes = [
    PlayRoute("GET", "orders/{}", .orders, .viewFinancialData) { call in
      PlayCall.json(try await call.orderAnswer(call.parameter(0)))
    },
    PlayRoute("GET", "orders:batchGet", .orders, .viewFinancialData) { call in
      let names = call.request.query.filter { $0.name == "orderIds" }.map(\.value)
      try call.require { limits in
        limits.requireNotEmpty(names, at: "orderIds")
        limits.requireCount(names, atMost: 1000, at: "orderIds")
        limits.requireDistinct(names, at: "orderIds")
      }
      var answer = PlayOrdersResponse()
      answer.orders = []
      for name in names { answer.orders?.append(try await call.orderAnswer(name)) }
      return PlayCall.json(answer)
    },
    PlayRoute("POST", "orders/{}:reviewrefund", .orders, .manageOrders) { call in
      try await review(call.body(ReviewRefundRequest.self), call)
      return .empty()
    },
    PlayRoute("POST", "orders/{}:refund", .orders, .manageOrders) { call in
      try await refund(call.parameter(0), revokes: call.flag("revoke"), call)
      return PlayCall.noContent
    },
    PlayRoute("GET", "purchases/voidedpurchases", .voidedPurchases, .viewFinancialData) { call in
      PlayCall.json(try await voided(call))
    },
  ]

  /// Refunds an order. Without revocation the customer keeps the purchase, and the engine is not informed.
  static func refund(_ orderId: String, revokes: Bool, _ call: PlayCall) async throws {
    let (purchase, index) = try await call.order(orderId)
    let order = purchase.orders[index]
    guard let transaction = order.transactionId, !order.isRefunded, order.voidedSource == nil else {
      throw PlayError.alreadyRefunded
    }
    guard order.date >= call.now.addingSeconds(-longestRefund) else {
      throw PlayError.invalidArgument("Orders older than 3 years cannot be refunded.")
    }
    if revokes {
      try await call.play.refund(transaction, of: purchase, source: 1, reason: 0, amount: .full)
    } else {
      try await call.change(purchase) {
        $0.orders[index].isRefunded = true
        $0.orders[index].refundDate = call.now
      }
    }
  }

  /// Keeps the first statement about a disputed order. Later ones are ignored.
  private static func review(_ request: ReviewRefundRequest, _ call: PlayCall) async throws {
    guard [.decline, .approve, .neutral].contains(request.refundPreference) else {
      throw PlayError.invalidArgument("Invalid value at 'refundPreference'")
    }
    let (purchase, index) = try await call.order(call.parameter(0))
    guard let review = purchase.orders[index].review, review.token == request.pendingRefundToken else {
      throw PlayError.noPendingReview
    }
    guard review.answer == nil else { return }
    guard review.isOpen, call.now <= review.date.addingSeconds(longestReview) else {
      throw PlayError.noPendingReview
    }
    let statement = try JSONValue(parsing: request.encodedJSON())
    try await call.change(purchase) {
      $0.orders[index].review?.answer = statement
      $0.orders[index].review?.answerDate = call.now
    }
  }

  private static let longestReview: Double = 86_400
  private static let longestRefund: Double = 1096 * 86_400
  private static let shownDays: Double = 30
  private static let mostResults: Int64 = 1000

  private static func voided(_ call: PlayCall) async throws -> VoidedPurchasesResponse {
    let now = Int64(call.now.wholeMilliseconds)
    let earliest = now - Int64(shownDays * 86_400_000)
    let start = try call.integer("startTime", in: 0...Int64(1) << 53) ?? earliest
    let end = try call.integer("endTime", in: 0...Int64(1) << 53) ?? now
    let limit = Int(try call.integer("maxResults", in: 1...Int64(UInt32.max)) ?? mostResults)
    let type = try call.integer("type", in: 0...1) ?? 0
    _ = try call.flag("includeQuantityBasedPartialRefund")
    guard start >= earliest else {
      throw PlayError.invalidArgument("'startTime' is older than 30 days.")
    }
    guard end <= now, start <= end else {
      throw PlayError.invalidArgument("'endTime' is in the future, or before 'startTime'.")
    }
    var key = StoreKey.number(start)
    if let token = call.request.value("token") {
      key = String(decoding: (try? Base64URL.decode(Array(token.utf8))) ?? [], as: UTF8.self)
      guard key.utf8.count == 33, key.utf8.allSatisfy({ $0 == 0x2F || 0x30...0x39 ~= $0 }) else {
        throw PlayError.invalidArgument("Invalid value at 'token'")
      }
    }
    var answer = VoidedPurchasesResponse()
    var found: [VoidedPurchase] = []
    var last = key
    // One row more than a page shows whether another page follows.
    search: while true {
      let page = try await call.ledger.voided(after: key, limit: 256)
      for (next, row) in page {
        key = next
        guard row.voidedDate.wholeMilliseconds <= Int(end) else { break search }
        guard type == 1 || !row.isSubscription else { continue }
        guard found.count < min(limit, Int(mostResults)) else {
          answer.tokenPagination = PlayTokenPagination().with {
            $0.nextPageToken = Base64URL.encodeToString(Array(last.utf8))
          }
          break search
        }
        last = next
        found.append(Self.row(row))
      }
      if page.count < 256 { break }
    }
    answer.voidedPurchases = found.isEmpty ? nil : found
    return answer
  }

  private static func row(_ voided: PlayVoidedPurchase) -> VoidedPurchase {
    VoidedPurchase().with {
      $0.kind = "androidpublisher#voidedPurchase"
      $0.purchaseToken = voided.token
      $0.purchaseTimeMillis = voided.purchaseDate
      $0.voidedTimeMillis = voided.voidedDate
      $0.orderId = voided.orderId
      $0.voidedSource = PlayVoidedSource(rawValue: voided.source)
      $0.voidedReason = PlayVoidedReason(rawValue: voided.reason)
    }
  }
}
