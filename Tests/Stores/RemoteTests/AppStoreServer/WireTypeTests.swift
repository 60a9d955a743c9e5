// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import AppStoreServer
import ReceiptSigning
import Testing

/// Requests and responses as JSON.
@Suite struct WireTypeTests {
  /// Reads and writes a document as one type.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let json: String
    let rewritten: @Sendable ([UInt8]) throws(MalformedReceipt) -> [UInt8]

    init<Body: JSONObject & SendableMetatype>(_ type: Body.Type, _ json: String) {
      self.testDescription = "\(type)"
      self.json = json
      self.rewritten = { (bytes: [UInt8]) throws(MalformedReceipt) in
        try Body(json: bytes, part: "body", limits: .standard).encodedJSON()
      }
    }
  }

  static let samples: [Sample] = [
    Sample(
      TransactionHistoryResponse.self,
      #"{"revision":"r","hasMore":true,"bundleId":"b","appAppleId":1,"environment":"Sandbox","#
        + #""signedTransactions":["x"],"new":{"a":1.50}}"#),
    Sample(TransactionInfoResponse.self, #"{"signedTransactionInfo":"x"}"#),
    Sample(AppTransactionInfoResponse.self, #"{"signedAppTransactionInfo":"x"}"#),
    Sample(OrderLookupResponse.self, #"{"status":0,"signedTransactions":["x","y"]}"#),
    Sample(RefundHistoryResponse.self, #"{"signedTransactions":[],"revision":"r","hasMore":false}"#),
    Sample(UpdateAppAccountTokenRequest.self, #"{"appAccountToken":"u"}"#),
    Sample(
      SubscriptionStatusesResponse.self,
      #"{"environment":"Production","bundleId":"b","appAppleId":1,"data":[{"subscriptionGroupIdentifier":"#
        + #""g","lastTransactions":[{"status":9,"originalTransactionId":"1","signedTransactionInfo":"x","#
        + #""signedRenewalInfo":"y"}]}]}"#),
    Sample(
      ExtendRenewalDateRequest.self, #"{"extendByDays":90,"extendReasonCode":3,"requestIdentifier":"r"}"#),
    Sample(
      ExtendRenewalDateResponse.self,
      #"{"originalTransactionId":"1","webOrderLineItemId":"2","success":true,"effectiveDate":1700000000000}"#
    ),
    Sample(
      MassExtendRenewalDateRequest.self,
      #"{"requestIdentifier":"r","extendByDays":1,"extendReasonCode":0,"productId":"p","#
        + #""storefrontCountryCodes":["USA"]}"#),
    Sample(MassExtendRenewalDateResponse.self, #"{"requestIdentifier":"r"}"#),
    Sample(
      MassExtendRenewalDateStatusResponse.self,
      #"{"requestIdentifier":"r","complete":true,"completeDate":1,"succeededCount":2,"failedCount":3}"#),
    Sample(
      ConsumptionRequest.self,
      #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"#
        + #""consumptionPercentage":50000,"refundPreference":"GRANT_PRORATED"}"#),
    Sample(
      ConsumptionRequestV1.self,
      #"{"customerConsented":true,"consumptionStatus":1,"platform":2,"sampleContentProvided":false,"#
        + #""deliveryStatus":3,"appAccountToken":"","accountTenure":4,"playTime":5,"#
        + #""lifetimeDollarsRefunded":6,"lifetimeDollarsPurchased":7,"userStatus":4,"refundPreference":3}"#),
    Sample(SendTestNotificationResponse.self, #"{"testNotificationToken":"t"}"#),
    Sample(
      CheckTestNotificationResponse.self,
      #"{"signedPayload":"x","sendAttempts":[{"attemptDate":1,"sendAttemptResult":"SUCCESS"}]}"#),
    Sample(
      NotificationHistoryRequest.self,
      #"{"startDate":1,"endDate":2,"notificationType":"TEST","notificationSubtype":"SUMMARY","#
        + #""transactionId":"1","onlyFailures":true}"#),
    Sample(
      NotificationHistoryResponse.self,
      #"{"paginationToken":"t","hasMore":true,"notificationHistory":[{"signedPayload":"x","#
        + #""sendAttempts":[{"attemptDate":1,"sendAttemptResult":"NEW"}]}]}"#),
    Sample(
      RetentionImageListResponse.self,
      #"{"imageIdentifiers":[{"imageIdentifier":"i","imageState":"APPROVED","imageSize":"FULL_SIZE"}]}"#),
    Sample(
      RetentionMessage.self,
      #"{"header":"h","body":"b","image":{"imageIdentifier":"i","altText":"a"},"#
        + #""headerPosition":"ABOVE_IMAGE","bulletPoints":[{"text":"t","imageIdentifier":"i","altText":"a"}]}"#
    ),
    Sample(
      RetentionMessageListResponse.self,
      #"{"messageIdentifiers":[{"messageIdentifier":"m","messageState":"PENDING"}]}"#),
    Sample(DefaultRetentionMessage.self, #"{"messageIdentifier":"m"}"#),
    Sample(RetentionRealtimeURL.self, #"{"realtimeURL":"https://example.com/"}"#),
    Sample(PerformanceTestRequest.self, #"{"originalTransactionId":"1"}"#),
    Sample(
      PerformanceTestResponse.self,
      #"{"config":{"maxConcurrentRequests":1,"totalRequests":2,"totalDuration":3,"responseTimeThreshold":4,"#
        + #""successRateThreshold":5},"requestId":"r"}"#),
    Sample(
      PerformanceTestResultResponse.self,
      #"{"config":{},"target":"t","result":"PASS","successRate":99,"numPending":0,"#
        + #""responseTimes":{"average":1,"p50":2,"p90":3,"p95":4,"p99":5},"failures":{"OTHER":2,"TIMED_OUT":1}}"#
    ),
    Sample(
      RealtimeResponse.self,
      #"{"message":{"messageIdentifier":"m"},"alternateProduct":{"messageIdentifier":"m","productId":"p","#
        + #""billingPlanType":"MONTHLY"},"promotionalOffer":{"messageIdentifier":"m","#
        + #""promotionalOfferSignatureV2":"s","promotionalOfferSignatureV1":{"encodedSignature":"e","#
        + #""productId":"p","nonce":"n","timestamp":1,"keyId":"k","offerIdentifier":"o","#
        + #""appAccountToken":"a"}},"advancedCommerceInfo":{"messageIdentifier":"m","#
        + #""advancedCommerceData":"d"}}"#),
    Sample(
      AdvancedCommerceSubscriptionCancelRequest.self,
      #"{"requestInfo":{"requestReferenceId":"r","appAccountToken":"a","consistencyToken":"c"},"#
        + #""storefront":"USA"}"#),
    Sample(
      AdvancedCommerceSubscriptionRevokeRequest.self,
      #"{"requestInfo":{"requestReferenceId":"r"},"refundReason":"LEGAL","refundType":"FULL","#
        + #""refundRiskingPreference":true,"storefront":"USA"}"#),
    Sample(
      AdvancedCommerceRefundRequest.self,
      #"{"requestInfo":{"requestReferenceId":"r"},"items":[{"SKU":"s","refundAmount":1,"#
        + #""refundReason":"OTHER","refundType":"CUSTOM","revoke":true}],"refundRiskingPreference":false,"#
        + #""currency":"USD","storefront":"USA"}"#),
    Sample(
      AdvancedCommercePriceChangeRequest.self,
      #"{"requestInfo":{"requestReferenceId":"r"},"items":[{"SKU":"s","price":1,"dependentSKUs":["t"]}],"#
        + #""currency":"USD","storefront":"USA"}"#),
    Sample(
      AdvancedCommerceMetadataChangeRequest.self,
      #"{"requestInfo":{"requestReferenceId":"r"},"descriptors":{"effective":"IMMEDIATELY","#
        + #""description":"d","displayName":"n"},"items":[{"currentSKU":"s","SKU":"t","displayName":"n","#
        + #""description":"d","effective":"NEXT_BILL_CYCLE"}],"taxCode":"c","storefront":"USA"}"#),
    Sample(
      AdvancedCommerceMigrationRequest.self,
      #"{"requestInfo":{"requestReferenceId":"r"},"targetProductId":"p","descriptors":{"description":"d","#
        + #""displayName":"n"},"items":[{"SKU":"s","description":"d","displayName":"n"}],"#
        + #""renewalItems":[],"taxCode":"c","storefront":"USA"}"#),
    Sample(
      AdvancedCommerceResponse.self, #"{"signedTransactionInfo":"x","signedRenewalInfo":"y"}"#),
    Sample(
      CurrentGroupsResponse.self,
      #"{"groups":[{"groupId":"g","groupType":"t","roles":[{"productId":"p","role":"r"}]}]}"#),
    Sample(
      GroupMembersResponse.self,
      #"{"members":[{"appTransactionId":"a"}],"hasMore":false,"paginationToken":"t"}"#),
    Sample(AppStoreServerErrorBody.self, #"{"errorCode":4049999,"errorMessage":"m"}"#),
  ]

  @Test("decoded values are encoded again, including unknown members and values", arguments: samples)
  func roundTrip(sample: Sample) throws {
    let bytes = Array(sample.json.utf8)
    let rewritten = try sample.rewritten(bytes)
    #expect(String(decoding: rewritten, as: UTF8.self) == sample.json)
  }

  @Test("a required field that is absent is named")
  func missingField() {
    #expect {
      _ = try ConsumptionRequest(
        json: Array(#"{"customerConsented":true,"sampleContentProvided":true}"#.utf8), part: "body",
        limits: .standard)
    } throws: { error in
      let error = error as? MalformedReceipt
      return error?.code == .missing && error?.place == .jsonPath("$.deliveryStatus")
    }
  }

  @Test(
    "failures of a performance test are counts",
    arguments: [#"{"failures":[]}"#, #"{"failures":{"OTHER":"1"}}"#, #"{"failures":{"OTHER":1.5}}"#])
  func failuresOfWrongType(json: String) {
    #expect {
      _ = try PerformanceTestResultResponse(json: Array(json.utf8), part: "body", limits: .standard)
    } throws: { error in
      let error = error as? MalformedReceipt
      return error?.code == .wrongType && error?.place == .jsonPath("$.failures")
    }
  }

  @Test("an answer to a realtime request omits absent fields")
  func realtimeResponse() {
    let response = RealtimeResponse().with {
      $0.message = RealtimeMessage().with {
        $0.messageIdentifier = UUIDString(rawValue: "m")
      }
    }
    #expect(
      String(decoding: response.encoded(), as: UTF8.self) == #"{"message":{"messageIdentifier":"m"}}"#)
  }
}

@Suite struct AppStoreServerErrorCodeTests {
  @Test("every documented code has a meaning, one HTTP status, and occurs once")
  func documented() {
    let codes = AppStoreServerErrorCode.documented
    #expect(codes.count == 216)
    #expect(codes.map(\.rawValue) == Set(codes.map(\.rawValue)).sorted())
    for code in codes {
      #expect(code.meaning?.isEmpty == false)
      #expect([400, 401, 403, 404, 409, 429, 500].contains(code.httpStatus))
    }
  }

  @Test("the codes of the Advanced Commerce API have names")
  func advancedCommerce() {
    let codes: [(Int64, AppStoreServerErrorCode)] = [
      (4_000_063, .oneItemNeededInModify), (4_000_087, .skuLengthExceeded), (4_000_105, .nullSKU),
      (4_000_143, .multipleOperationsOnSingleSKU), (4_000_192, .dependentSKUsCannotBeShared),
      (4_000_221, .acaPriceIncreaseIsNotCurrentlySupportedInIndia), (4_010_000, .unauthorized),
      (4_030_015, .inactiveACASub), (4_030_027, .migrationNotAllowedWhenPriceIncreaseCommunicated),
      (4_040_016, .productNotFound),
    ]
    for (number, code) in codes {
      #expect(AppStoreServerErrorCode(rawValue: number) == code)
      #expect(code.rawValue == number)
    }
  }

  @Test("the codes that Apple calls retryable are retryable")
  func retryable() {
    #expect(
      AppStoreServerErrorCode.documented.filter(\.isRetryable).map(\.rawValue)
        == [4_040_002, 4_040_004, 4_040_006, 4_290_000, 5_000_001])
  }

  @Test("unknown codes are kept", arguments: [0, -1, 4_049_999, Int64.max, Int64.min])
  func unknown(code: Int64) {
    let code = AppStoreServerErrorCode(rawValue: code)
    #expect(code.meaning == nil)
    #expect(!code.isRetryable)
    #expect(code.httpStatus == Int(code.rawValue / 10_000))
  }
}

@Suite struct RealtimeResponseTests {
  @Test("an offer that was signed is an answer to a realtime request")
  func promotionalOffer() throws {
    let signature = try StoreServer.signer().promotionalOfferSignature(
      productId: "p", offerIdentifier: "o", nonce: EndpointCall.uuid, timestamp: StoreServer.now)
    let response = RealtimeResponse().with {
      $0.promotionalOffer = RealtimePromotionalOffer().with {
        $0.messageIdentifier = EndpointCall.uuid
        $0.promotionalOfferSignatureV1 = RealtimePromotionalOfferSignatureV1(
          signature, productId: "p", offerIdentifier: "o")
      }
    }
    let json = try JSONValue(parsing: response.encoded())
    let offer = json["promotionalOffer"]?["promotionalOfferSignatureV1"]
    #expect(offer?["encodedSignature"]?.string == signature.encodedSignature)
    #expect(offer?["nonce"]?.string == EndpointCall.uuid.rawValue.lowercased())
    #expect(offer?["timestamp"]?.int64 == 1_759_302_562_000)
    #expect(offer?["keyId"]?.string == "2X9R4HXF34")
    #expect(offer?["appAccountToken"] == nil)
  }
}
