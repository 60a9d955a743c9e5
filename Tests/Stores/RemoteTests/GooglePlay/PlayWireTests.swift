// SPDX-License-Identifier: Apache-2.0

@testable import GooglePlay
import ReceiptCodec
import Testing

/// Google Play's answers are decoded, kept, and written back as they came.
@Suite struct PlayWireTests {
  private static func roundTrip<Value: JSONObject>(_ json: String, _ type: Value.Type) throws -> Value {
    let value = try Value(json: Array(json.utf8), part: "answer", limits: .standard)
    #expect(String(decoding: value.encodedJSON(), as: UTF8.self) == json)
    return value
  }

  @Test("a subscription with everything that is documented")
  func subscription() throws {
    let purchase = try Self.roundTrip(
      """
      {"kind":"androidpublisher#subscriptionPurchaseV2","regionCode":"DE","startTime":"2025-10-01T07:09:12.835Z",\
      "subscriptionState":"SUBSCRIPTION_STATE_CANCELED","latestOrderId":"GPA.1..4","linkedPurchaseToken":"old",\
      "pausedStateContext":{"autoResumeTime":"2025-12-01T00:00:00.000Z"},\
      "canceledStateContext":{"userInitiatedCancellation":{"cancelSurveyResult":{"reason":\
      "CANCEL_SURVEY_REASON_OTHERS","reasonUserInput":"no"},"cancelTime":"2025-10-02T00:00:00.000Z"}},\
      "testPurchase":{},"acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",\
      "externalAccountIdentifiers":{"externalAccountId":"e","obfuscatedExternalAccountId":"a",\
      "obfuscatedExternalProfileId":"p"},"lineItems":[{"productId":"pro","expiryTime":"2025-11-01T07:09:12.000Z",\
      "latestSuccessfulOrderId":"GPA.1..4","autoRenewingPlan":{"autoRenewEnabled":false,"recurringPrice":\
      {"currencyCode":"EUR","units":"9007199254740993","nanos":990000000}},"offerDetails":{"offerTags":["x"],\
      "basePlanId":"monthly","offerId":"trial"},"offerPhase":{"freeTrial":{}},"deferredItemReplacement":\
      {"productId":"max"},"signupPromotion":{"vanityCode":{"promotionCode":"SUMMER"}},"future":[1.50,null]}],\
      "another":{"a":"1"}}
      """, SubscriptionPurchaseV2.self)
    #expect(purchase.subscriptionState == .canceled)
    #expect(purchase.lineItems?.first?.autoRenewingPlan?.recurringPrice?.units == 9_007_199_254_740_993)
    #expect(purchase.startTime == (try Timestamp(iso8601: "2025-10-01T07:09:12.835Z")))
    #expect(purchase.canceledStateContext?.userInitiatedCancellation?.cancelSurveyResult?.reason == .others)
    #expect(purchase.lineItems?.first?.offerPhase?.freeTrial != nil)
  }

  @Test("one-time purchases in both forms, and a page of voided purchases")
  func products() throws {
    let product = try Self.roundTrip(
      """
      {"kind":"androidpublisher#productPurchaseV2","productLineItem":[{"productId":"coins","productOfferDetails":\
      {"offerTags":[],"purchaseOptionId":"buy","quantity":2,"refundableQuantity":1,"consumptionState":\
      "CONSUMPTION_STATE_CONSUMED"}}],"purchaseStateContext":{"purchaseState":"PENDING"},"testPurchaseContext":\
      {"fopType":"TEST"},"orderId":"GPA.1","regionCode":"US","purchaseCompletionTime":"2025-10-01T07:09:12.835Z",\
      "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"}
      """, ProductPurchaseV2.self)
    #expect(product.purchaseStateContext?.purchaseState == .pending)
    #expect(product.productLineItem?.first?.productOfferDetails?.consumptionState == .consumed)
    let older = try Self.roundTrip(
      """
      {"kind":"androidpublisher#productPurchase","purchaseTimeMillis":"1760000000123","purchaseState":2,\
      "consumptionState":0,"orderId":"GPA.1","purchaseType":0,"acknowledgementState":1,"quantity":3}
      """, ProductPurchase.self)
    #expect(older.purchaseState == .pending)
    #expect(older.purchaseType == .test)
    #expect(older.purchaseTimeMillis == Timestamp(millisecondsSince1970: 1_760_000_000_123))
    let page = try Self.roundTrip(
      """
      {"tokenPagination":{"nextPageToken":"n"},"voidedPurchases":[{"kind":"androidpublisher#voidedPurchase",\
      "purchaseToken":"t","purchaseTimeMillis":"1","voidedTimeMillis":"2","orderId":"GPA.1","voidedSource":2,\
      "voidedReason":7}]}
      """, VoidedPurchasesResponse.self)
    #expect(page.voidedPurchases?.first?.voidedReason == .chargeback)
  }

  @Test("an order with everything that is documented")
  func order() throws {
    let order = try Self.roundTrip(
      """
      {"orderId":"GPA.1-2-3-4..0","purchaseToken":"t","state":"PARTIALLY_REFUNDED",\
      "createTime":"2026-01-02T03:04:05.000Z","lastEventTime":"2026-01-05T00:00:00.000Z",\
      "buyerAddress":{"buyerState":"CA","buyerCountry":"US","buyerPostcode":"94043"},\
      "total":{"currencyCode":"EUR","units":"4","nanos":990000000},"tax":{"currencyCode":"EUR"},\
      "lineItems":[{"productId":"pro","productTitle":"Pro","listingPrice":{"units":"5"},"total":{"units":"4"},\
      "tax":{},"subscriptionDetails":{"basePlanId":"monthly","offerId":"trial","offerPhase":"FREE_TRIAL",\
      "offerPhaseDetails":{"prorationPeriodDetails":{"originalOfferPhase":"INTRODUCTORY"}},\
      "servicePeriodStartTime":"2026-01-02T03:04:05.000Z","servicePeriodEndTime":"2026-02-02T03:04:05.000Z"}},\
      {"productId":"coins","oneTimePurchaseDetails":{"quantity":2,"offerId":"o","purchaseOptionId":"buy",\
      "rentalDetails":{},"preorderDetails":{}}},{"productId":"com.example.app","paidAppDetails":{}}],\
      "orderDetails":{"taxInclusive":true},"orderHistory":{"partialRefundEvents":[{"createTime":\
      "2026-01-05T00:00:00.000Z","processTime":"2026-01-05T00:00:01.000Z","state":"PROCESSED_SUCCESSFULLY",\
      "refundDetails":{"total":{"units":"1"},"tax":{"nanos":1}}}],"processedEvent":{"eventTime":\
      "2026-01-02T03:04:05.000Z"},"cancellationEvent":{"eventTime":"2026-01-02T03:04:05.000Z"},"refundEvent":\
      {"eventTime":"2026-01-06T00:00:00.000Z","refundDetails":{"total":{}},"refundReason":"CHARGEBACK"}},\
      "developerRevenueInBuyerCurrency":{"units":"-1","nanos":-500000000},"pointsDetails":{"pointsOfferId":"p",\
      "pointsCouponValue":{"units":"2"},"pointsDiscountRateMicros":"500000","pointsSpent":"100"},\
      "salesChannel":"OUTSIDE_PLAY_STORE","future":{"a":1}}
      """, PlayOrder.self)
    #expect(order.state == .partiallyRefunded)
    #expect(order.orderHistory?.refundEvent?.refundReason == .chargeback)
    #expect(order.orderHistory?.partialRefundEvents?.first?.state == .processed)
    #expect(order.pointsDetails?.pointsDiscountRateMicros == 500_000)
    #expect(order.lineItems?.first?.subscriptionDetails?.offerPhase == .freeTrial)
    let unknown = try Self.roundTrip(#"{"state":"FROZEN","salesChannel":"KIOSK"}"#, PlayOrder.self)
    #expect(unknown.state == .unknown("FROZEN"))
  }

  @Test("the phase before a change of the product is read by both names, and written by the documented one")
  func originalOfferPhase() throws {
    for name in ["originalOfferPhase", "originalOfferPhaseType"] {
      let period = try PlayProrationPeriod(
        json: Array(#"{"\#(name)":"BASE"}"#.utf8), part: "answer", limits: .standard)
      #expect(period.originalOfferPhase == .base)
      #expect(String(decoding: period.encodedJSON(), as: UTF8.self) == #"{"originalOfferPhaseType":"BASE"}"#)
    }
  }

  @Test("a pending refund review of a reason that is not known, and without a token, is read")
  func pendingRefundReview() throws {
    let notification = try Self.roundTrip(
      #"{"pendingRefundReviewNotification":{"version":"1.0","orderId":"GPA.1","refundReason":9,"future":[1]}}"#,
      DeveloperNotification.self)
    #expect(notification.pendingRefundReviewNotification?.refundReason == .unknown(9))
    #expect(notification.pendingRefundReviewNotification?.pendingRefundToken == nil)
    #expect(notification.events == ["pendingRefundReviewNotification"])
  }

  @Test("a pre-order says when it is released, and durations are whole seconds")
  func spellings() throws {
    let offer = try Self.roundTrip(
      #"{"preorderOfferDetails":{"preorderReleaseTime":"2026-01-02T03:04:05.000Z"}}"#,
      PlayProductOfferDetails.self)
    #expect(
      offer.preorderOfferDetails?.preorderReleaseTime == (try Timestamp(iso8601: "2026-01-02T03:04:05Z")))
    let context = try Self.roundTrip(
      #"{"deferDuration":"86400s","etag":"e","validateOnly":true}"#, PlayDeferralContext.self)
    #expect(context.deferSeconds == 86_400)
    for text in ["86400", "86400.5s", "+86400s", "086400s", "s", "P1D", "9223372036854775808s"] {
      let error = #expect(throws: MalformedReceipt.self) {
        try PlayDeferralContext(
          json: Array(#"{"deferDuration":"\#(text)","etag":"e"}"#.utf8), part: "answer", limits: .standard)
      }
      #expect(error?.place == .jsonPath("$.deferDuration"))
    }
  }

  @Test("64-bit integers come as strings or numbers, and nothing else")
  func integers() throws {
    let number = try VoidedPurchase(
      json: Array(#"{"voidedTimeMillis":1760000000000}"#.utf8), part: "answer", limits: .standard)
    #expect(number.voidedTimeMillis == Timestamp(millisecondsSince1970: 1_760_000_000_000))
    for text in [#""""#, #""+1""#, #""01""#, #""1.0""#, #""9223372036854775808""#, "true", #"" 1""#, "1.5"] {
      #expect(throws: MalformedReceipt.self) {
        try VoidedPurchase(
          json: Array(#"{"voidedTimeMillis":\#(text)}"#.utf8), part: "answer", limits: .standard)
      }
    }
    let far = #expect(throws: MalformedReceipt.self) {
      try VoidedPurchase(
        json: Array(#"{"voidedTimeMillis":"9223372036854775807"}"#.utf8), part: "answer", limits: .standard)
    }
    #expect(far?.code == .outOfRange)
    #expect(far?.place == .jsonPath("$.voidedTimeMillis"))
  }

  @Test("instants are of the years that RFC 3339 has, in UTC, too")
  func instants() throws {
    for (text, isValid) in [
      ("9999-12-31T23:59:59.999Z", true), ("0000-01-01T00:00:00Z", true),
      ("9999-12-31T23:59:59-00:01", false),
      ("0000-01-01T00:00:00+00:01", false), ("2025-10-01", false),
    ] {
      let json = Array(#"{"startTime":"\#(text)"}"#.utf8)
      let purchase = try? SubscriptionPurchaseV2(json: json, part: "answer", limits: .standard)
      #expect((purchase != nil) == isValid)
    }
  }
}
