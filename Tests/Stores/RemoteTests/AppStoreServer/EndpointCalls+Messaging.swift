// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import AppStoreServer
import Testing

/// Retention Messaging.
extension EndpointCall {
  static let retention: [EndpointCall] = retentionImages + retentionMessages + retentionSettings

  static let retentionImages: [EndpointCall] = [
    EndpointCall(
      .uploadImage, .put, "/inApps/v1/messaging/image/\(uuid.rawValue)?imageSize=BULLET_POINT", png: png
    ) { client throws(AppStoreServerError) in
      try await client.send(.uploadImage(png, identifier: uuid, size: .bulletPoint))
    },
    EndpointCall(.deleteImage, .delete, "/inApps/v1/messaging/image/\(uuid.rawValue)") {
      client throws(AppStoreServerError) in try await client.send(.deleteImage(uuid))
    },
    EndpointCall(
      .imageList, .get, "/inApps/v1/messaging/image/list",
      answer: #"{"imageIdentifiers":[{"imageState":"APPROVED"}]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.images())
      #expect(response.imageIdentifiers?.first?.imageState == .approved)
    },
  ]

  static let retentionMessages: [EndpointCall] = [
    EndpointCall(
      .uploadMessage, .put, "/inApps/v1/messaging/message/\(uuid.rawValue)",
      json: #"{"header":"h","body":"b","image":{"imageIdentifier":"\#(uuid.rawValue)","altText":"a"},"#
        + #""headerPosition":"ABOVE_IMAGE","bulletPoints":[{"text":"t","imageIdentifier":"#
        + #""\#(uuid.rawValue)","altText":"a"}]}"#
    ) { client throws(AppStoreServerError) in
      try await client.send(
        .uploadMessage(
          RetentionMessage(header: "h", body: "b").with {
            $0.image = RetentionMessageImage(imageIdentifier: uuid, altText: "a")
            $0.headerPosition = .aboveImage
            $0.bulletPoints = [RetentionBulletPoint(text: "t", imageIdentifier: uuid, altText: "a")]
          },
          identifier: uuid))
    },
    EndpointCall(.deleteMessage, .delete, "/inApps/v1/messaging/message/\(uuid.rawValue)") {
      client throws(AppStoreServerError) in try await client.send(.deleteMessage(uuid))
    },
    EndpointCall(
      .messageList, .get, "/inApps/v1/messaging/message/list",
      answer: #"{"messageIdentifiers":[{"messageState":"REJECTED"}]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.messages())
      #expect(response.messageIdentifiers?.first?.messageState == .rejected)
    },
  ]

  static let retentionSettings: [EndpointCall] = [
    EndpointCall(
      .setDefaultMessage, .put, "/inApps/v1/messaging/default/p/en-US",
      json: #"{"messageIdentifier":"\#(uuid.rawValue)"}"#
    ) { client throws(AppStoreServerError) in
      try await client.send(.setDefaultMessage(uuid, forProduct: "p", locale: "en-US"))
    },
    EndpointCall(.deleteDefaultMessage, .delete, "/inApps/v1/messaging/default/p/en-US") {
      client throws(AppStoreServerError) in
      try await client.send(.deleteDefaultMessage(forProduct: "p", locale: "en-US"))
    },
    EndpointCall(
      .defaultMessage, .get, "/inApps/v1/messaging/default/p/en-US", answer: #"{"messageIdentifier":"m"}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.defaultMessage(forProduct: "p", locale: "en-US"))
      #expect(response.messageIdentifier.rawValue == "m")
    },
    EndpointCall(
      .setRealtimeURL, .put, "/inApps/v1/messaging/realtime/url",
      json: #"{"realtimeURL":"https://example.com/a"}"#
    ) { client throws(AppStoreServerError) in try await client.send(.setRealtimeURL("https://example.com/a"))
    },
    EndpointCall(.deleteRealtimeURL, .delete, "/inApps/v1/messaging/realtime/url") {
      client throws(AppStoreServerError) in try await client.send(.deleteRealtimeURL())
    },
    EndpointCall(
      .realtimeURL, .get, "/inApps/v1/messaging/realtime/url", answer: #"{"realtimeURL":"u"}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.realtimeURL())
      #expect(response.realtimeURL == "u")
    },
    EndpointCall(
      .startPerformanceTest, .post, "/inApps/v1/messaging/performanceTest",
      json: #"{"originalTransactionId":"1"}"#, answer: #"{"requestId":"r","config":{"totalRequests":9}}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.startPerformanceTest(of: "1"))
      #expect(response.requestId == "r" && response.config?.totalRequests == 9)
    },
    EndpointCall(
      .performanceTestResult, .get, "/inApps/v1/messaging/performanceTest/result/r",
      answer: #"{"result":"FAIL","failures":{"TIMED_OUT":3}}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.performanceTestResult("r"))
      #expect(response.result == .fail && response.failures?.counts == [.timedOut: 3])
    },
  ]
}

/// Advanced Commerce.
extension EndpointCall {
  private static let answer = #"{"signedTransactionInfo":"a","signedRenewalInfo":"b"}"#
  private static let info = AdvancedCommerceRequestInfo(requestReferenceId: uuid)
  private static let infoJSON = #""requestInfo":{"requestReferenceId":"\#(uuid.rawValue)"}"#

  static let advancedCommerce: [EndpointCall] = [
    EndpointCall(
      .cancelSubscription, .post, "/advancedCommerce/v1/subscription/cancel/1", json: "{\(infoJSON)}",
      answer: answer
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(
        .cancelSubscription(
          "1", AdvancedCommerceSubscriptionCancelRequest(requestInfo: info)))
      #expect(
        response
          == AdvancedCommerceResponse().with {
            $0.signedTransactionInfo = "a"
            $0.signedRenewalInfo = "b"
          })
    },
    EndpointCall(
      .revokeSubscription, .post, "/advancedCommerce/v1/subscription/revoke/1",
      json: #"{\#(infoJSON),"refundReason":"LEGAL","refundType":"PRORATED","refundRiskingPreference":true}"#,
      answer: answer
    ) { client throws(AppStoreServerError) in
      _ = try await client.content(
        .revokeSubscription(
          "1",
          AdvancedCommerceSubscriptionRevokeRequest(
            requestInfo: info, refundReason: .legal, refundType: .prorated, refundRiskingPreference: true)))
    },
    EndpointCall(
      .migrateSubscription, .post, "/advancedCommerce/v1/subscription/migrate/1",
      json: #"{\#(infoJSON),"targetProductId":"p","descriptors":{"description":"d","displayName":"n"},"#
        + #""items":[{"SKU":"s","description":"d","displayName":"n"}],"taxCode":"c"}"#, answer: answer
    ) { client throws(AppStoreServerError) in
      _ = try await client.content(
        .migrateSubscription(
          "1",
          AdvancedCommerceMigrationRequest(
            requestInfo: info, targetProductId: "p",
            descriptors: AdvancedCommerceMigrationDescriptors(description: "d", displayName: "n"),
            items: [AdvancedCommerceMigrationItem(sku: "s", description: "d", displayName: "n")], taxCode: "c"
          )))
    },
    EndpointCall(
      .changeSubscriptionMetadata, .post, "/advancedCommerce/v1/subscription/changeMetadata/1",
      json: #"{\#(infoJSON),"items":[{"currentSKU":"s","effective":"IMMEDIATELY"}]}"#, answer: answer
    ) { client throws(AppStoreServerError) in
      _ = try await client.content(
        .changeSubscriptionMetadata(
          "1",
          AdvancedCommerceMetadataChangeRequest(requestInfo: info).with {
            $0.items = [
              AdvancedCommerceMetadataChangeItem(currentSKU: "s").with {
                $0.effective = .immediately
              }
            ]
          }))
    },
    EndpointCall(
      .changeSubscriptionPrice, .post, "/advancedCommerce/v1/subscription/changePrice/1",
      json: #"{\#(infoJSON),"items":[{"SKU":"s","price":1990}],"currency":"USD"}"#, answer: answer
    ) { client throws(AppStoreServerError) in
      _ = try await client.content(
        .changeSubscriptionPrice(
          "1",
          AdvancedCommercePriceChangeRequest(
            requestInfo: info, items: [AdvancedCommercePriceChangeItem(sku: "s", price: 1990)]
          ).with {
            $0.currency = "USD"
          }))
    },
    EndpointCall(
      .requestRefund, .post, "/advancedCommerce/v1/transaction/requestRefund/1",
      json: #"{\#(infoJSON),"items":[{"SKU":"s","refundReason":"OTHER","refundType":"FULL","revoke":true}],"#
        + #""refundRiskingPreference":false}"#, answer: answer
    ) { client throws(AppStoreServerError) in
      _ = try await client.content(
        .requestRefund(
          "1",
          AdvancedCommerceRefundRequest(
            requestInfo: info,
            items: [
              AdvancedCommerceRefundRequestItem(
                sku: "s", refundReason: .other, refundType: .full, revoke: true)
            ], refundRiskingPreference: false)))
    },
  ]
}
