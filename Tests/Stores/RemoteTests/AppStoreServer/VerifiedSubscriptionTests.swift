// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import ReceiptTesting
import ReceiptVerification
import Testing

/// The signed parts of one subscription belong together.
@Suite struct VerifiedSubscriptionTests {
  private static func statuses(
    of line: String = "2000000001", transaction: String? = nil, renewalInfo: String? = nil,
    envelope: String = #""environment":"Sandbox","bundleId":"com.example.app""#
  ) throws -> FakeTransport {
    let receipts = try TestReceipts()
    let transaction = try transaction ?? receipts.signedTransaction()
    let renewalInfo = try renewalInfo ?? receipts.signedRenewalInfo()
    return FakeTransport(
      .json(
        #"{\#(envelope),"data":[{"subscriptionGroupIdentifier":"empty"},{"subscriptionGroupIdentifier":"g","#
          + #""lastTransactions":[{"status":4,"originalTransactionId":"\#(line)","#
          + #""signedTransactionInfo":"\#(transaction)","signedRenewalInfo":"\#(renewalInfo)"}]}]}"#))
  }

  private static func refusal(_ transport: FakeTransport) async throws -> AppStoreServerError.UnverifiedPart?
  {
    let client = try StoreServer.client(transport)
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.subscriptionStatuses(of: "1"))
    }
    guard case .notVerified(let part) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return nil
    }
    return part
  }

  @Test("a subscription comes with its verified parts")
  func genuine() async throws {
    let subscriptions = try await StoreServer.client(Self.statuses()).send(.subscriptionStatuses(of: "1"))
    let subscription = try #require(subscriptions.first)
    #expect(subscriptions.count == 1)
    #expect(subscription.subscriptionGroupIdentifier == "g")
    #expect(subscription.status == .gracePeriod)
    #expect(subscription.originalTransactionId == "2000000001")
    #expect(subscription.purchase.transaction.payload == SampleReceipts.transaction)
    #expect(subscription.purchase.renewalInfo?.payload == SampleReceipts.renewalInfo)
  }

  @Test("parts of another subscription are refused, and named")
  func otherLine() async throws {
    let receipts = try TestReceipts()
    let place = "$.data[1].lastTransactions[0]"
    let other = try await Self.refusal(Self.statuses(of: "2000000009"))
    #expect(other?.code == .nestedMismatch)
    #expect(other?.place == place + ".signedTransactionInfo")
    let renewal = try await Self.refusal(
      Self.statuses(renewalInfo: receipts.signedRenewalInfo { $0.originalTransactionId = "2000000009" }))
    #expect(renewal?.code == .nestedMismatch)
    #expect(renewal?.place == place + ".signedRenewalInfo")
    let anonymous = try await Self.refusal(
      Self.statuses(renewalInfo: receipts.signedRenewalInfo { $0.originalTransactionId = nil }))
    #expect(anonymous?.code == .nestedMismatch)
    let exchanged = try await Self.refusal(
      Self.statuses(transaction: receipts.signedRenewalInfo(), renewalInfo: receipts.signedTransaction()))
    #expect(exchanged?.code == .wrongKind)
    #expect(exchanged?.place == place + ".signedTransactionInfo")
  }

  @Test("the fields around the signed parts must also match the app and environment")
  func envelope() async throws {
    let app = try await Self.refusal(Self.statuses(envelope: #""bundleId":"com.example.other""#))
    #expect(app?.code == .wrongBundle && app?.place == "$.bundleId")
    for environment in ["Production", "Mars"] {
      let part = try await Self.refusal(Self.statuses(envelope: #""environment":"\#(environment)""#))
      #expect(part?.code == .wrongEnvironment && part?.place == "$.environment")
    }
    #expect(
      try await StoreServer.client(Self.statuses(envelope: #""new":1"#)).send(.subscriptionStatuses(of: "1"))
        .count
        == 1)
  }

  @Test(
    "a missing state or subscription is a malformed response",
    arguments: ["status", "originalTransactionId"])
  func missing(name: String) async throws {
    let body = #"{"data":[{"lastTransactions":[{"status":1,"originalTransactionId":"1"}]}]}"#
      .replacing("\"\(name)\"", with: "\"other\"")
    let client = try StoreServer.client(FakeTransport(.json(body)))
    let error = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.subscriptionStatuses(of: "1"))
    }
    guard case .malformedResponse(let malformed) = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(malformed.place == .jsonPath("$.data[0].lastTransactions[0].\(name)"))
  }

  @Test("every Advanced Commerce call verifies its answer")
  func advancedCommerce() async throws {
    let receipts = try TestReceipts()
    let signed = try receipts.signedTransaction()
    let good =
      #"{"signedTransactionInfo":"\#(signed)","signedRenewalInfo":"\#(try receipts.signedRenewalInfo())"}"#
    let alone = #"{"signedTransactionInfo":"\#(signed)"}"#
    let bad = #"{"signedTransactionInfo":"\#(signed)x"}"#
    for endpoint in Self.advancedCommerce {
      let both = try await Self.call(endpoint, StoreServer.client(FakeTransport(.json(good))))
      #expect(both.transaction.payload == SampleReceipts.transaction)
      #expect(both.renewalInfo?.payload == SampleReceipts.renewalInfo)
      #expect(
        try await Self.call(endpoint, StoreServer.client(FakeTransport(.json(alone)))).renewalInfo == nil)
      let client = try StoreServer.client(FakeTransport(.json(bad)))
      let error = await storeError { () async throws(AppStoreServerError) in
        try await Self.call(endpoint, client)
      }
      #expect(error?.endpoint == endpoint)
      guard case .notVerified(let part) = error?.cause else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(part.place == "$.signedTransactionInfo")
    }
  }

  private static let advancedCommerce: [AppStoreServerEndpoint] = [
    .cancelSubscription, .revokeSubscription, .migrateSubscription, .changeSubscriptionMetadata,
    .changeSubscriptionPrice, .requestRefund,
  ]

  private static func call(
    _ endpoint: AppStoreServerEndpoint, _ client: AppStoreServerClient
  ) async throws(AppStoreServerError) -> VerifiedPurchase {
    let info = AdvancedCommerceRequestInfo(requestReferenceId: EndpointCall.uuid)
    switch endpoint {
    case .cancelSubscription:
      return try await client.send(
        .cancelSubscription(
          "1", AdvancedCommerceSubscriptionCancelRequest(requestInfo: info)))
    case .revokeSubscription:
      return try await client.send(
        .revokeSubscription(
          "1",
          AdvancedCommerceSubscriptionRevokeRequest(
            requestInfo: info, refundReason: .other, refundType: .full, refundRiskingPreference: false)))
    case .migrateSubscription:
      return try await client.send(
        .migrateSubscription(
          "1",
          AdvancedCommerceMigrationRequest(
            requestInfo: info, targetProductId: "p",
            descriptors: AdvancedCommerceMigrationDescriptors(description: "d", displayName: "n"), items: [],
            taxCode: "c")))
    case .changeSubscriptionMetadata:
      return try await client.send(
        .changeSubscriptionMetadata(
          "1", AdvancedCommerceMetadataChangeRequest(requestInfo: info)))
    case .changeSubscriptionPrice:
      return try await client.send(
        .changeSubscriptionPrice(
          "1", AdvancedCommercePriceChangeRequest(requestInfo: info, items: [])))
    default:
      return try await client.send(
        .requestRefund(
          "1", AdvancedCommerceRefundRequest(requestInfo: info, items: [], refundRiskingPreference: false)))
    }
  }
}
