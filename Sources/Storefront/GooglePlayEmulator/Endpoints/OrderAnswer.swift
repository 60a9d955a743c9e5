// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import Storefront

extension PlayCall {
  /// An order, and the purchase that it is of.
  func order(_ orderId: String) async throws -> (purchase: PlayPurchase, index: Int) {
    guard let purchase = try await ledger.purchase(.order(orderId)),
      let index = purchase.orders.firstIndex(where: { $0.orderId == orderId })
    else { throw PlayError.orderNotFound }
    return (purchase, index)
  }

  /// The answer of `orders.get`.
  func orderAnswer(_ orderId: String) async throws -> PlayOrder {
    // A renewal that waits for its payment has no record yet: only the subscription names it, as `pendingOrderId`.
    let first = orderId.firstRange(of: "..").map { String(orderId[..<$0.lowerBound]) }
    if let first, let purchase = try await ledger.purchase(.order(first)), purchase.nextOrderId == orderId {
      let view = try await PlayView(purchase, in: ledger.store)
      guard [.gracePeriod, .billingRetry].contains(view.state?.status), let period = view.transaction else {
        throw PlayError.orderNotFound
      }
      let renewal = period.with {
        $0.price = view.recurringPrice
        $0.offerIdentifier = nil
        $0.offerDiscountType = nil
        $0.purchaseDate = period.expiresDate
        $0.expiresDate = nil
      }
      return await answer(of: purchase, orderId, renewal, total: view.recurringPrice).with {
        $0.state = .pending
        $0.createTime = period.expiresDate
        $0.lastEventTime = period.expiresDate
      }
    }
    let (purchase, index) = try await order(orderId)
    let order = purchase.orders[index]
    // What was not charged for continues the period of an order before.
    var transaction = JWSTransaction()
    if let paid = order.transactionId ?? purchase.originalTransactionId {
      transaction = try await ledger.store.purchase(paid)?.current ?? transaction
    }
    transaction.expiresDate = order.periodEnd
    let total = order.transactionId == nil ? 0 : (transaction.price ?? 0) * (transaction.quantity ?? 1)
    var answer = await answer(of: purchase, orderId, transaction, total: total)
    answer.createTime = order.date
    answer.lastEventTime = order.refundDate ?? order.review?.date ?? order.date
    answer.state = order.review?.isOpen == true ? .pendingRefund : .processed
    var history = PlayOrderHistory()
    history.processedEvent = PlayOrderEvent().with { $0.eventTime = order.date }
    if order.isRefunded || order.voidedSource != nil {
      let share =
        order.isRefunded ? nil : transaction.revocationPercentage.flatMap { $0 < 100_000 ? $0 : nil }
      let refunded = share.map { total.scaled(by: $0, over: 100_000) } ?? total
      let details = PlayRefundDetails().with {
        $0.total = PlayMoney(thousandths: refunded, transaction.currency)
        $0.tax = PlayMoney(thousandths: 0, transaction.currency)
      }
      if share == nil {
        answer.state = .refunded
        history.refundEvent = PlayRefundEvent().with {
          $0.eventTime = order.refundDate
          $0.refundDetails = details
          $0.refundReason = order.voidedReason == 7 ? .chargeback : .other
        }
      } else {
        answer.state = .partiallyRefunded
        history.partialRefundEvents = [
          PlayPartialRefundEvent().with {
            $0.createTime = order.refundDate
            $0.processTime = order.refundDate
            $0.state = .processed
            $0.refundDetails = details
          }
        ]
      }
      answer.developerRevenueInBuyerCurrency = revenue(total - refunded, transaction.currency)
    }
    answer.orderHistory = history
    return answer
  }

  /// What orders in every state have in common.
  private func answer(
    of purchase: PlayPurchase, _ orderId: String, _ transaction: JWSTransaction, total: Int64
  ) async -> PlayOrder {
    let currency = transaction.currency
    let productId = transaction.productId ?? purchase.productId
    let product = await ledger.store.catalogProduct(productId)
    let item = PlayOrderLineItem().with {
      $0.productId = productId
      $0.productTitle = product?.listings.first?.title
      $0.listingPrice = PlayMoney(
        thousandths: product.flatMap { Milliunits.of($0.price) } ?? total, currency)
      $0.total = PlayMoney(thousandths: total, currency)
      $0.tax = PlayMoney(thousandths: 0, currency)
      if purchase.isSubscription {
        $0.subscriptionDetails = Self.period(transaction, of: product)
      } else {
        $0.oneTimePurchaseDetails = PlayOneTimePurchaseDetails().with { $0.quantity = purchase.quantity }
      }
    }
    return PlayOrder().with {
      $0.orderId = orderId
      $0.purchaseToken = purchase.token
      $0.buyerAddress = PlayBuyerAddress().with { $0.buyerCountry = play.region }
      $0.total = item.total
      $0.tax = item.tax
      $0.lineItems = [item]
      $0.orderDetails = PlayOrderDetails().with { $0.taxInclusive = true }
      $0.developerRevenueInBuyerCurrency = revenue(total, currency)
      $0.salesChannel = .inApp
    }
  }

  /// What remains after Google's fee of 15 per cent.
  private func revenue(_ thousandths: Int64, _ currency: String?) -> PlayMoney {
    PlayMoney(thousandths: thousandths.scaled(by: 85, over: 100), currency)
  }

  private static func period(
    _ transaction: JWSTransaction, of product: CatalogProduct?
  ) -> PlayOrderSubscriptionDetails {
    PlayOrderSubscriptionDetails().with {
      $0.basePlanId = product?.basePlanId
      $0.offerId = transaction.offerIdentifier
      var details = PlayOrderPhaseDetails()
      switch transaction.offerDiscountType {
      case nil: ($0.offerPhase, details.baseDetails) = (.base, EmptyObject())
      case .freeTrial?: ($0.offerPhase, details.freeTrialDetails) = (.freeTrial, EmptyObject())
      default: ($0.offerPhase, details.introductoryPriceDetails) = (.introductory, EmptyObject())
      }
      $0.offerPhaseDetails = details
      $0.servicePeriodStartTime = transaction.purchaseDate
      $0.servicePeriodEndTime = transaction.expiresDate
    }
  }
}

extension Int64 {
  /// The number times a fraction of at most 1, truncated. The product may exceed 64 bits.
  func scaled(by numerator: Int64, over denominator: Int64) -> Int64 {
    denominator.dividingFullWidth(multipliedFullWidth(by: numerator)).quotient
  }
}

extension PlayMoney {
  /// An amount in thousandths, as the engine has it.
  init(thousandths: Int64, _ currency: String?) {
    self.init()
    currencyCode = currency
    units = thousandths / 1000
    nanos = thousandths % 1000 * 1_000_000
  }
}

extension PlayRefundReview {
  var isOpen: Bool { isRefunded == nil }
}
