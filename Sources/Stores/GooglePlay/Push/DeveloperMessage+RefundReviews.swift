// SPDX-License-Identifier: Apache-2.0

internal import Entitlements
internal import ReceiptCodec

extension DeveloperMessage {
  /// What the message itself says about a refund review: that it opens, or that the order was refunded.
  func refundReview(at now: Timestamp) -> EntitlementLedger {
    var change = EntitlementLedger()
    let date = eventTime ?? now
    if let review = notification.pendingRefundReviewNotification, let orderId = review.orderId,
      let token = review.pendingRefundToken
    {
      var fact = RefundRequestFact(
        date: date, requestId: token, deadline: date.addingSeconds(24 * 3600))
      fact.reason = review.refundReason.map { $0 == .chargeback ? "CHARGEBACK" : "\($0.rawValue)" }
      fact.account = review.obfuscatedAccountId
      change.apply(refundReview(of: orderId), request: fact)
    } else if let voided = notification.voidedPurchaseNotification, let orderId = voided.orderId {
      let isPartial = voided.refundType == .quantityBasedPartial
      var fact = RefundOutcomeFact(
        date: date,
        outcome: (isPartial ? RefundReview.State.partlyGranted : .granted).rawValue)
      fact.purchase = voided.purchaseToken
      change.apply(refundReview(of: orderId), outcome: fact)
    }
    return change
  }

  private func refundReview(of orderId: String) -> RefundReview.ID {
    RefundReview.ID(store: .googlePlay, environment: nil, app: packageName, identifier: orderId)
  }
}

extension GooglePlayClient {
  /// Completes the question of a refund review, which names neither purchase nor product, by Google Play's answers about
  /// the order and its purchase, whose facts are merged, too.
  ///
  /// - Throws: ``GooglePlayError`` if Google Play did not answer and must be asked again.
  func complete(_ review: RefundReview, in change: inout EntitlementLedger) async throws(GooglePlayError) {
    let order: PlayOrder
    do throws(GooglePlayError) {
      order = try await send(.order(review.id.identifier))
    } catch {
      switch error.code {
      case .notFound, .invalidRequest: return
      default: throw error
      }
    }
    var fact = review.request
    let item = order.lineItems?.first
    fact.purchase = order.purchaseToken
    fact.productId = item?.productId
    fact.purchaseDate = order.createTime
    fact.expiresDate = item?.subscriptionDetails?.servicePeriodEndTime
    fact.price = order.total?.thousandths
    fact.currency = order.total?.currencyCode
    if let id = order.purchaseToken.flatMap({
      PlayEntitlement.ID(packageName: review.id.app, purchaseToken: $0)
    }) {
      let answer = try await answer(about: id, isSubscription: item?.subscriptionDetails != nil)
      change.merge(answer.facts)
      let known = answer.facts[id]
      fact.isDelivered = known?.isAcknowledged
      fact.isConsumed = known.map { $0.items.contains(where: \.isConsumed) }
      fact.account = fact.account ?? known?.obfuscatedAccountId
    }
    change.apply(review.id, request: fact)
  }
}

extension PlayMoney {
  /// The amount in thousandths of the currency's unit, rounded towards zero; `nil` if it is out of range.
  fileprivate var thousandths: Int64? {
    let (units, overflow) = (units ?? 0).multipliedReportingOverflow(by: 1000)
    return overflow ? nil : units + Int64(nanos ?? 0) / 1_000_000
  }
}
