// SPDX-License-Identifier: Apache-2.0

import GooglePlay
import ReceiptCodec

/// Requests that Google Play accepts.
enum PlayRequests {
  static func cancel(_ type: PlayCancellationType) -> CancelSubscriptionRequest {
    CancelSubscriptionRequest(cancellationContext: PlayCancellationContext(cancellationType: type))
  }

  static func deferral(days: Int64, _ etag: String) -> DeferSubscriptionRequest {
    DeferSubscriptionRequest(deferralContext: PlayDeferralContext(deferSeconds: days * 86_400, etag: etag))
  }

  static func deferral(from: Double, to: Double) -> DeferSubscriptionV1Request {
    DeferSubscriptionV1Request(
      deferralInfo: PlayDeferralInfo(
        expectedExpiryTime: Timestamp(millisecondsSince1970: from),
        desiredExpiryTime: Timestamp(millisecondsSince1970: to)))
  }

  static func statement(
    _ token: String = "t", _ change: (inout ReviewRefundRequest) -> Void = { _ in }
  ) -> ReviewRefundRequest {
    var request = ReviewRefundRequest(
      pendingRefundToken: token, refundPreference: .decline, sampleContentProvided: false)
    change(&request)
    return request
  }

  static func price(_ micros: Int64, _ currency: String = "USD") -> PlayPrice {
    PlayPrice(currency: currency, priceMicros: micros)
  }

  static func externalTransaction(
    _ change: (inout CreateExternalTransactionRequest) -> Void = { _ in }
  ) -> CreateExternalTransactionRequest {
    var request = CreateExternalTransactionRequest(
      originalPreTaxAmount: price(9_990_000), originalTaxAmount: price(1_000_000),
      transactionTime: PlayFixture.now, userTaxAddress: PlayTaxAddress(regionCode: "US"))
    request.oneTimeTransaction = PlayOneTimeExternalTransaction().with {
      $0.externalTransactionToken = "token"
    }
    change(&request)
    return request
  }

  static func recurring(
    _ change: (inout PlayRecurringExternalTransaction) -> Void
  ) -> CreateExternalTransactionRequest {
    externalTransaction {
      $0.oneTimeTransaction = nil
      $0.recurringTransaction = PlayRecurringExternalTransaction()
      $0.recurringTransaction?.externalSubscription = PlayExternalSubscription(subscriptionType: .recurring)
      if var recurring = $0.recurringTransaction {
        change(&recurring)
        $0.recurringTransaction = recurring
      }
    }
  }

  static var fullRefund: RefundExternalTransactionRequest {
    RefundExternalTransactionRequest(refundTime: PlayFixture.now).with { $0.fullRefund = EmptyObject() }
  }

  static func partialRefund(_ id: String, _ price: PlayPrice) -> RefundExternalTransactionRequest {
    RefundExternalTransactionRequest(refundTime: PlayFixture.now).with {
      $0.partialRefund = PlayPartialExternalRefund(refundId: id, refundPreTaxAmount: price)
    }
  }
}
