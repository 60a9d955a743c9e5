// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import Testing

/// Requests that break a documented limit are refused before they are sent; those at the limit are not.
@Suite struct RequestLimitTests {
  private typealias Call = @Sendable (RawAppStoreServerClient) async throws -> Void

  private static let uuid = EndpointCall.uuid
  private static let noUUID = UUIDString(rawValue: "1234")

  /// The place that is refused; `nil` where the request was sent.
  private static func refusedPlace(_ call: Call) async throws -> String? {
    let transport = FakeTransport(.json("{}"))
    let client = try StoreServer.raw(transport)
    var error: AppStoreServerError?
    do {
      try await call(client)
    } catch let thrown as AppStoreServerError {
      error = thrown
    }
    guard let error else {
      #expect(transport.requests.count == 1)
      return nil
    }
    guard case .invalidRequest(let place, let message) = error.cause else {
      Issue.record("\(error)")
      return nil
    }
    #expect(transport.requests.isEmpty)
    #expect(error.attempts == 0)
    #expect(!error.isRetryable)
    #expect(!message.isEmpty)
    return place
  }

  private static func text(_ count: Int) -> String { String(repeating: "é", count: count) }

  @Test(
    "days of an extension are 1 to 90",
    arguments: [(0, false), (1, true), (90, true), (91, false), (Int64.min, false)] as [(Int64, Bool)])
  func extensionDays(days: Int64, isAccepted: Bool) async throws {
    let one = try await Self.refusedPlace { client in
      _ = try await client.send(
        .extendRenewalDate(
          of: "1",
          ExtendRenewalDateRequest(extendByDays: days, extendReasonCode: .other, requestIdentifier: "i")))
    }
    let many = try await Self.refusedPlace { client in
      _ = try await client.send(
        .massExtendRenewalDate(
          MassExtendRenewalDateRequest(
            requestIdentifier: Self.uuid, extendByDays: days, extendReasonCode: .other, productId: "p")))
    }
    #expect(one == (isAccepted ? nil : "$.extendByDays"))
    #expect(many == one)
  }

  @Test("identifiers of an extension: at most 128 characters for one, a UUID for many")
  func extensionIdentifiers() async throws {
    for (count, isAccepted) in [(0, false), (1, true), (128, true), (129, false)] {
      let place = try await Self.refusedPlace { client in
        _ = try await client.send(
          .extendRenewalDate(
            of: "1",
            ExtendRenewalDateRequest(
              extendByDays: 1, extendReasonCode: .other, requestIdentifier: Self.text(count))))
      }
      #expect(place == (isAccepted ? nil : "$.requestIdentifier"))
    }
    let mass = try await Self.refusedPlace { client in
      _ = try await client.send(
        .massExtendRenewalDate(
          MassExtendRenewalDateRequest(
            requestIdentifier: Self.noUUID, extendByDays: 1, extendReasonCode: .other, productId: "p")))
    }
    #expect(mass == "$.requestIdentifier")
    let status = try await Self.refusedPlace { client in
      _ = try await client.send(.massExtendRenewalDateStatus(productId: "p", requestIdentifier: Self.noUUID))
    }
    #expect(status == "requestIdentifier")
    let nowhere = try await Self.refusedPlace { client in
      _ = try await client.send(
        .massExtendRenewalDate(
          MassExtendRenewalDateRequest(
            requestIdentifier: Self.uuid, extendByDays: 1, extendReasonCode: .other, productId: "p"
          ).with {
            $0.storefrontCountryCodes = []
          }))
    }
    #expect(nowhere == "$.storefrontCountryCodes")
  }

  @Test(
    "consumption: consent, and a percentage that goes with delivery and preference",
    arguments: [
      (true, DeliveryStatus.delivered, nil, nil, nil),
      (false, .delivered, nil, nil, "$.customerConsented"),
      (true, .delivered, 0, nil, nil), (true, .delivered, 100_000, .grantFull, nil),
      (true, .delivered, 100_001, nil, "$.consumptionPercentage"),
      (true, .delivered, -1, nil, "$.consumptionPercentage"),
      (true, .undeliveredOther, 0, nil, nil),
      (true, .undeliveredOther, 1, nil, "$.consumptionPercentage"),
      (true, .delivered, 0, .grantProrated, "$.consumptionPercentage"),
      (true, .delivered, 1, .grantProrated, nil), (true, .delivered, 99_999, .grantProrated, nil),
      (true, .delivered, 100_000, .grantProrated, "$.consumptionPercentage"),
      (true, .delivered, nil, .grantProrated, nil),
    ] as [(Bool, DeliveryStatus, Int64?, RefundPreference?, String?)])
  func consumption(
    consented: Bool, status: DeliveryStatus, percentage: Int64?, preference: RefundPreference?,
    refused: String?
  ) async throws {
    let place = try await Self.refusedPlace { client in
      try await client.send(
        .sendConsumption(
          ConsumptionRequest(
            customerConsented: consented, deliveryStatus: status, sampleContentProvided: true
          ).with {
            $0.consumptionPercentage = percentage
            $0.refundPreference = preference
          }, of: "1"))
    }
    #expect(place == refused)
  }

  @Test(
    "consumption, version 2, is not sent for a purchase of Advanced Commerce; the message names version 1")
  func consumptionOfAdvancedCommerce() async throws {
    let request = ConsumptionRequest(
      customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: true)
    var purchase = JWSTransaction()
    purchase.transactionId = "7"
    let transport = FakeTransport(.json(""))
    let client = try StoreServer.raw(transport)
    try await client.send(.sendConsumption(request, of: purchase))
    #expect(transport.requests.first?.url.target == "/inApps/v2/transactions/consumption/7")
    purchase.type = .autoRenewableSubscription
    let percentage = await storeError { [purchase] () async throws(AppStoreServerError) in
      try await client.send(.sendConsumption(request.with { $0.consumptionPercentage = 0 }, of: purchase))
    }
    guard case .invalidRequest("$.consumptionPercentage", _) = percentage?.cause else {
      Issue.record("\(String(describing: percentage))")
      return
    }
    purchase.advancedCommerceInfo = AdvancedCommerceTransactionInfo()
    let refused = await storeError { [purchase] () async throws(AppStoreServerError) in
      try await client.send(.sendConsumption(request, of: purchase))
    }
    guard case .invalidRequest("transactionId", let message) = refused?.cause else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(message.contains("sendConsumptionV1"))
    #expect(transport.requests.count == 1)
  }

  @Test("consumption, version 1: consent, and an account that is a UUID or empty")
  func consumptionV1() async throws {
    for (consented, account, refused) in [
      (nil, nil, "$.customerConsented"), (false, nil, "$.customerConsented"), (true, nil, nil),
      (true, Self.noUUID, "$.appAccountToken"), (true, Self.uuid, nil),
    ] as [(Bool?, UUIDString?, String?)] {
      let place = try await Self.refusedPlace { client in
        try await client.send(
          .sendConsumptionV1(
            ConsumptionRequestV1().with {
              $0.customerConsented = consented
              $0.appAccountToken = account
            }, of: "1"))
      }
      #expect(place == refused)
    }
    let account = try await Self.refusedPlace { client in
      try await client.send(.setAppAccountToken(Self.noUUID, of: "1"))
    }
    #expect(account == "$.appAccountToken")
  }

  @Test("notification history: dates in order, one filter, a subtype with its type")
  func notificationHistory() async throws {
    let start = Timestamp(secondsSince1970: 1)
    for (end, type, subtype, transaction, refused) in [
      (1.0, nil, nil, nil, "$.endDate"), (.nan, nil, nil, nil, "$.endDate"), (1000.5, nil, nil, nil, nil),
      (2000, NotificationType.test, nil, "1", "$.transactionId"),
      (2000, nil, NotificationSubtype.upgrade, nil, "$.notificationSubtype"),
      (2000, nil, nil, "1", nil),
    ] as [(Double, NotificationType?, NotificationSubtype?, String?, String?)] {
      let place = try await Self.refusedPlace { client in
        _ = try await client.content(
          .notificationHistory(
            NotificationHistoryRequest(startDate: start, endDate: Timestamp(millisecondsSince1970: end)).with
            {
              $0.notificationType = type
              $0.notificationSubtype = subtype
              $0.transactionId = transaction
            }))
      }
      #expect(place == refused)
    }
  }

  @Test("retention messages: lengths, count of bullet points, an image under the header")
  func retentionMessages() async throws {
    func place(_ change: (inout RetentionMessage) -> Void) async throws -> String? {
      var message = RetentionMessage(header: Self.text(66), body: Self.text(144)).with {
        $0.image = RetentionMessageImage(imageIdentifier: Self.uuid, altText: Self.text(150))
        $0.headerPosition = .aboveImage
        $0.bulletPoints = Array(
          repeating: RetentionBulletPoint(
            text: Self.text(66), imageIdentifier: Self.uuid, altText: Self.text(150)), count: 5)
      }
      change(&message)
      let sent = message
      return try await Self.refusedPlace { client in
        try await client.send(.uploadMessage(sent, identifier: Self.uuid))
      }
    }
    #expect(try await place { _ in } == nil)
    #expect(try await place { $0.header += "x" } == "$.header")
    #expect(try await place { $0.body += "x" } == "$.body")
    #expect(try await place { $0.image?.altText += "x" } == "$.image.altText")
    #expect(try await place { $0.image = nil } == "$.headerPosition")
    #expect(try await place { $0.bulletPoints?[4].text += "x" } == "$.bulletPoints[4].text")
    #expect(try await place { $0.bulletPoints?[3].altText += "x" } == "$.bulletPoints[3].altText")
    let point = RetentionBulletPoint(text: "t", imageIdentifier: Self.uuid, altText: "a")
    #expect(try await place { $0.bulletPoints?.append(point) } == "$.bulletPoints")
  }

  private static let messagingCalls: [(String?, Call)] = [
    ("imageIdentifier", { try await $0.send(.uploadImage(EndpointCall.png, identifier: noUUID)) }),
    ("body", { try await $0.send(.uploadImage(Array("GIF89a".utf8), identifier: uuid)) }),
    ("body", { try await $0.send(.uploadImage([], identifier: uuid)) }),
    ("imageIdentifier", { try await $0.send(.deleteImage(noUUID)) }),
    ("messageIdentifier", { try await $0.send(.deleteMessage(noUUID)) }),
    ("$.messageIdentifier", { try await $0.send(.setDefaultMessage(noUUID, forProduct: "p", locale: "en")) }),
    ("locale", { try await $0.send(.deleteDefaultMessage(forProduct: "p", locale: "")) }),
    ("$.realtimeURL", { try await $0.send(.setRealtimeURL("")) }),
    (nil, { try await $0.send(.setRealtimeURL(text(256))) }),
    ("$.realtimeURL", { try await $0.send(.setRealtimeURL(text(257))) }),
    ("limit", { _ = try await $0.content(.groupMembers(of: "g", limit: 0)) }),
    ("limit", { _ = try await $0.content(.groupMembers(of: "g", limit: 101)) }),
  ]

  @Test("retention messaging: identifiers, images and the realtime URL")
  func retentionMessaging() async throws {
    for (refused, call) in Self.messagingCalls { #expect(try await Self.refusedPlace(call) == refused) }
  }

  private static let info = AdvancedCommerceRequestInfo(requestReferenceId: uuid)
  private static let advancedCommerceCalls: [(String, Call)] = [
    (
      "$.requestInfo.requestReferenceId",
      {
        _ = try await $0.send(
          .cancelSubscription(
            "1",
            AdvancedCommerceSubscriptionCancelRequest(
              requestInfo: AdvancedCommerceRequestInfo(requestReferenceId: noUUID))))
      }
    ),
    (
      "$.items[0].SKU",
      {
        _ = try await $0.send(
          .requestRefund(
            "1",
            AdvancedCommerceRefundRequest(
              requestInfo: info,
              items: [
                AdvancedCommerceRefundRequestItem(
                  sku: text(129), refundReason: .other, refundType: .full, revoke: true)
              ], refundRiskingPreference: true)))
      }
    ),
    (
      "$.items[0].dependentSKUs[1]",
      {
        _ = try await $0.send(
          .changeSubscriptionPrice(
            "1",
            AdvancedCommercePriceChangeRequest(
              requestInfo: info,
              items: [
                AdvancedCommercePriceChangeItem(sku: text(128), price: 1).with {
                  $0.dependentSKUs = [text(128), text(129)]
                }
              ])))
      }
    ),
    (
      "$.items[0].currentSKU",
      {
        _ = try await $0.send(
          .changeSubscriptionMetadata(
            "1",
            AdvancedCommerceMetadataChangeRequest(requestInfo: info).with {
              $0.descriptors = AdvancedCommerceMetadataChangeDescriptors().with {
                $0.description = text(45)
                $0.displayName = text(30)
              }
              $0.items = [AdvancedCommerceMetadataChangeItem(currentSKU: text(129))]
            }))
      }
    ),
    (
      "$.descriptors.displayName",
      {
        _ = try await $0.send(
          .changeSubscriptionMetadata(
            "1",
            AdvancedCommerceMetadataChangeRequest(requestInfo: info).with {
              $0.descriptors = AdvancedCommerceMetadataChangeDescriptors().with {
                $0.displayName = text(31)
              }
            }))
      }
    ),
    (
      "$.renewalItems[0].description",
      {
        _ = try await $0.send(
          .migrateSubscription(
            "1",
            AdvancedCommerceMigrationRequest(
              requestInfo: info, targetProductId: "p",
              descriptors: AdvancedCommerceMigrationDescriptors(description: "d", displayName: "n"),
              items: [], taxCode: "c"
            ).with {
              $0.renewalItems = [
                AdvancedCommerceMigrationItem(sku: "s", description: text(46), displayName: "n")
              ]
            }))
      }
    ),
  ]

  @Test("Advanced Commerce: a UUID as reference, and lengths of texts")
  func advancedCommerce() async throws {
    for (refused, call) in Self.advancedCommerceCalls {
      #expect(try await Self.refusedPlace(call) == refused)
    }
  }
}
