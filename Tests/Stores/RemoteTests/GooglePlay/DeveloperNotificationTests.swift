// SPDX-License-Identifier: Apache-2.0

import Entitlements
@testable import GooglePlay
import ReceiptCodec
import ReceiptCrypto
import ReceiptTesting
import ReceiptVerification
import Testing

/// Notifications of Google Play: from the push to the ledger.
@Suite struct DeveloperNotificationTests {
  private static let subscribed = notification(
    #""subscriptionNotification":{"version":"1.0","notificationType":4,"purchaseToken":"t1","subscriptionId":"pro"}"#
  )

  private static func notification(_ member: String, packageName: String = PlayFixture.packageName) -> String
  {
    #"{"version":"1.0","packageName":"\#(packageName)","eventTimeMillis":"1760000000000",\#(member)}"#
  }

  private static func receiver(_ transport: FakeTransport) throws -> DeveloperNotificationReceiver {
    DeveloperNotificationReceiver(
      verifier: PlayFixture.verifier(try PlayFixture.keys()),
      client: try PlayFixture.client(transport, retry: .once(within: .seconds(5))))
  }

  private static func receive(
    _ body: [UInt8], token: String? = nil,
    over transport: FakeTransport = PlayFixture.transport([.json("{}")])
  ) async throws -> DeveloperMessage {
    let authorization = try token ?? "Bearer " + PlayFixture.pushToken()
    return try await receiver(transport).receive(authorization: authorization, body: body)
  }

  private static func update(
    _ notification: String, _ answer: RemoteResponse, id: String = "1"
  ) async throws -> DeveloperUpdate {
    let transport = PlayFixture.transport([answer])
    let message = try await receive(PlayFixture.push(notification, id: id), over: transport)
    return try await receiver(transport).update(for: message)
  }

  private static func rejection(_ body: [UInt8], token: String? = nil) async throws -> PushRejection? {
    do {
      _ = try await receive(body, token: token)
      return nil
    } catch let rejection as PushRejection {
      return rejection
    }
  }

  @Test("a push with a genuine token is a message, in either spelling of its members")
  func received() async throws {
    var message = try await Self.receive(PlayFixture.push(Self.subscribed))
    #expect(message.messageId == "136969346945")
    #expect(message.event == "subscriptionNotification")
    #expect(message.eventType == 4)
    #expect(message.notification.subscriptionNotification?.notificationType == .purchased)
    #expect(message.eventTime == Timestamp(millisecondsSince1970: 1_760_000_000_000))
    #expect(message.publishTime == Timestamp(millisecondsSince1970: 1_759_999_999_500))
    #expect(
      message.purchase == PlayEntitlement.ID(packageName: PlayFixture.packageName, purchaseToken: "t1"))
    for name in ["messageId", "message_id"] {
      let body = String(decoding: PlayFixture.push(Self.subscribed), as: UTF8.self)
        .replacing(#""\#(name)":"136969346945","#, with: "")
      message = try await Self.receive(Array(body.utf8))
      #expect(message.messageId == "136969346945")
    }
  }

  @Test("a push without a genuine token is refused before its body is looked at")
  func unauthenticated() async throws {
    let forged = "Bearer " + (try PlayFixture.pushToken(key: .generateRSA()))
    for body in [
      PlayFixture.push(Self.subscribed), Array("no JSON".utf8), Array(repeating: 0x20, count: 1 << 20),
    ] {
      guard case .token(let rejection)? = try await Self.rejection(body, token: forged) else {
        Issue.record("not refused for its token")
        return
      }
      #expect(rejection.code == .badSignature)
      #expect(PushRejection.token(rejection).httpStatus == 401)
    }
  }

  @Test("bodies that are no message are refused at their place")
  func malformed() async throws {
    let genuine = String(decoding: PlayFixture.push(Self.subscribed), as: UTF8.self)
    let several = Self.notification(#""testNotification":{},"oneTimeProductNotification":{}"#)
    for (body, location) in [
      (Array("{}".utf8), MalformedReceipt.Place.jsonPath("$.message")),
      (
        Array(genuine.replacing(#""message_id":"136969346945""#, with: #""message_id":"7""#).utf8),
        .jsonPath("$.message.messageId")
      ),
      (Array(#"{"message":{"data":"e30="}}"#.utf8), .jsonPath("$.message.messageId")),
      (Array(#"{"message":{"messageId":"1","data":"!"}}"#.utf8), .jsonPath("$.message.data")),
      (PlayFixture.push("{}"), .jsonPath("$.packageName")),
      (PlayFixture.push(several), .jsonPath("$")),
      (
        PlayFixture.push(Self.notification(#""subscriptionNotification":[]"#)),
        .jsonPath("$.subscriptionNotification")
      ),
    ] {
      guard case .malformed(let error)? = try await Self.rejection(body) else {
        Issue.record("\(String(decoding: body, as: UTF8.self))")
        continue
      }
      #expect(error.place == location)
    }
    #expect(
      try await Self.rejection(Array(repeating: 0x20, count: 262_145))
        == .tooLarge(byteCount: 262_145, limit: 262_144))
    #expect(
      try await Self.rejection(
        PlayFixture.push(Self.notification(#""testNotification":{}"#, packageName: "com.example.other")))
        == .otherApp("com.example.other"))
  }

  private static let numberedTypes: [(Int64, PlaySubscriptionNotificationType)] = [
    (1, .recovered), (2, .renewed), (3, .canceled), (4, .purchased), (5, .onHold), (6, .inGracePeriod),
    (7, .restarted), (8, .priceChangeConfirmed), (9, .deferred), (10, .paused), (11, .pauseScheduleChanged),
    (12, .revoked), (13, .expired), (17, .itemsChanged), (18, .cancellationScheduled),
    (19, .priceChangeUpdated), (20, .pendingPurchaseCanceled), (22, .priceStepUpConsentUpdated),
    (14, .unknown(14)), (99, .unknown(99)),
  ]

  @Test(
    "each type of a subscription's notification has the purchase asked about", arguments: numberedTypes)
  func subscriptionTypes(number: Int64, type: PlaySubscriptionNotificationType) async throws {
    let update = try await Self.update(
      Self.subscribed.replacing(#""notificationType":4"#, with: #""notificationType":\#(number)"#),
      Self.active)
    #expect(update.message.notification.subscriptionNotification?.notificationType == type)
    #expect(update.message.eventType == number)
    #expect(update.entitlement?.state(at: PlayFixture.now) == .active)
  }

  @Test("one-time and voided purchases have their types", arguments: [1, 2, 9] as [Int64])
  func otherTypes(number: Int64) async throws {
    let oneTime = try await Self.receive(
      PlayFixture.push(
        Self.notification(
          #""oneTimeProductNotification":{"notificationType":\#(number),"purchaseToken":"t"}"#)))
    let purchase: [Int64: PlayOneTimeProductNotificationType] = [1: .purchased, 2: .canceled]
    #expect(
      oneTime.notification.oneTimeProductNotification?.notificationType == purchase[number]
        ?? .unknown(number))
    #expect(oneTime.purchase?.purchaseToken == "t")
    let message = try await Self.receive(
      PlayFixture.push(
        Self.notification(
          #""voidedPurchaseNotification":{"purchaseToken":"t","orderId":"GPA.1","productType":\#(number),"refundType":\#(number)}"#
        )))
    let voided = try #require(message.notification.voidedPurchaseNotification)
    let product: [Int64: PlayVoidedProductType] = [1: .subscription, 2: .oneTime]
    let refund: [Int64: PlayRefundType] = [1: .full, 2: .quantityBasedPartial]
    #expect(voided.productType == product[number] ?? .unknown(number))
    #expect(voided.refundType == refund[number] ?? .unknown(number))
    #expect(message.purchase?.purchaseToken == "t")
  }

  @Test("what this version does not know is kept, and needs no purchase")
  func unknown() async throws {
    let unknown = Self.notification(#""futureNotification":{"purchaseToken":"t1","kind":7}"#)
    let message = try await Self.receive(PlayFixture.push(unknown))
    #expect(message.event == "futureNotification")
    #expect(message.purchase == nil)
    #expect(String(decoding: message.json, as: UTF8.self) == unknown)
    #expect(
      String(decoding: message.notification.encodedJSON(), as: UTF8.self).contains(
        #""futureNotification":{"purchaseToken":"t1","kind":7}"#))
    for member in [
      #""testNotification":{"version":"1.0"}"#, #""pendingRefundReviewNotification":{"orderId":"GPA.1"}"#,
    ] {
      let update = try await Self.update(Self.notification(member), PlayFixture.error(500, "INTERNAL"))
      #expect(update.change == EntitlementLedger())
    }
    let type = try await Self.receive(
      PlayFixture.push(Self.subscribed.replacing(#""notificationType":4"#, with: #""notificationType":99"#)))
    #expect(type.notification.subscriptionNotification?.notificationType == .unknown(99))
    #expect(type.purchase != nil)
  }

  private static let active = RemoteResponse.json(
    """
    {"kind":"androidpublisher#subscriptionPurchaseV2","startTime":"2025-10-01T00:00:00Z",\
    "subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","latestOrderId":"GPA.1..0","linkedPurchaseToken":"t0",\
    "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","testPurchase":{},\
    "externalAccountIdentifiers":{"obfuscatedExternalAccountId":"u1"},\
    "lineItems":[{"productId":"pro","expiryTime":"2025-11-01T00:00:00.123Z",\
    "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1..0"}]}
    """)

  @Test("a subscription is asked about, and the purchase that it replaced ends")
  func subscription() async throws {
    let update = try await Self.update(Self.subscribed, Self.active)
    let entitlement = try #require(update.entitlement)
    #expect(entitlement.isSubscription && entitlement.isTest && !entitlement.isAcknowledged)
    #expect(entitlement.obfuscatedAccountId == "u1")
    #expect(entitlement.orderId == "GPA.1..0")
    #expect(entitlement.linkedPurchaseToken == "t0")
    let end = try Timestamp(iso8601: "2025-11-01T00:00:00.123Z")
    #expect(entitlement.items.map(\.productId) == ["pro"])
    #expect(entitlement.items.map(\.expiryTime) == [end])
    #expect(entitlement.state(at: PlayFixture.now) == .active)
    #expect(entitlement.productIds(at: PlayFixture.now) == ["pro"])
    #expect(entitlement.nextChange(after: PlayFixture.now) == end)
    #expect(entitlement.state(at: end) == .expired)

    var ledger = EntitlementLedger()
    let old = try #require(PlayEntitlement.ID(packageName: PlayFixture.packageName, purchaseToken: "t0"))
    let former = SubscriptionPurchaseV2().with {
      $0.subscriptionState = .active
      $0.lineItems = [PlaySubscriptionLineItem().with { $0.expiryTime = end }]
    }
    ledger.apply(former, to: old, asOf: Timestamp(millisecondsSince1970: 0))
    #expect(ledger[old]?.grantsAccess(at: PlayFixture.now) == true)
    ledger.merge(update.change)
    #expect(ledger[old]?.state(at: PlayFixture.now) == .replaced)
    #expect(ledger[old]?.replacedByPurchaseToken == "t1")
  }

  @Test("a one-time purchase is asked about by its token")
  func product() async throws {
    let purchased = Self.notification(
      #""oneTimeProductNotification":{"version":"1.0","notificationType":1,"purchaseToken":"t2","sku":"coins"}"#
    )
    for (state, expected) in [
      ("PURCHASED", PlayEntitlement.State.active), ("CANCELLED", .cancelled), ("PENDING", .pending),
      ("PURCHASE_STATE_UNSPECIFIED", .unknown), ("SOMETHING_NEW", .unknown),
    ] {
      let update = try await Self.update(
        purchased,
        .json(
          """
          {"productLineItem":[{"productId":"coins","productOfferDetails":{"quantity":3}}],"orderId":"GPA.2",\
          "purchaseStateContext":{"purchaseState":"\(state)"}}
          """))
      let entitlement = try #require(update.entitlement)
      #expect(entitlement.state(at: PlayFixture.now) == expected)
      #expect(entitlement.items.map(\.quantity) == [3])
      #expect(entitlement.grantsAccess(at: PlayFixture.now) == (expected == .active))
    }
  }

  @Test("a voided purchase is revoked, and a refund of a part of the quantity revokes nothing")
  func voided() async throws {
    for (refundType, expected) in [(1, PlayEntitlement.State.refunded), (2, .active)] {
      let voided = Self.notification(
        #""voidedPurchaseNotification":{"purchaseToken":"t2","orderId":"GPA.2","productType":2,"refundType":\#(refundType)}"#
      )
      let update = try await Self.update(
        voided, .json(#"{"purchaseStateContext":{"purchaseState":"PURCHASED"},"orderId":"GPA.2"}"#))
      #expect(update.entitlement?.state(at: PlayFixture.now) == expected)
    }
    let renewal = Self.notification(
      #""voidedPurchaseNotification":{"purchaseToken":"t1","orderId":"GPA.1","productType":1,"refundType":1}"#
    )
    // An earlier period was refunded.
    let update = try await Self.update(renewal, Self.active)
    #expect(update.entitlement?.state(at: PlayFixture.now) == .active)
  }

  @Test("a token that is no longer valid ends the purchase")
  func gone() async throws {
    for response in [PlayFixture.error(410, "FAILED_PRECONDITION"), PlayFixture.error(404, "NOT_FOUND")] {
      var ledger = try await Self.update(Self.subscribed, Self.active).change
      let update = try await Self.update(Self.subscribed, response, id: "2")
      #expect(update.entitlement == nil)
      ledger.merge(update.change)
      let id = try #require(update.message.purchase)
      #expect(ledger[id]?.state(at: PlayFixture.now) == .expired)
    }
  }

  @Test("where Google Play does not answer the message must come again")
  func unanswered() async throws {
    for status in [401, 403, 429, 500] {
      let error = await #expect(throws: GooglePlayError.self) {
        try await Self.update(Self.subscribed, PlayFixture.error(status, "X"))
      }
      #expect(error?.endpoint == .subscription)
    }
  }
}
