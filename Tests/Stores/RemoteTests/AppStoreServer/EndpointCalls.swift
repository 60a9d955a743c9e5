// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import AppStoreServer
import Testing

/// A call of each endpoint, with what must be on the wire.
struct EndpointCall: Sendable, CustomTestStringConvertible {
  typealias Perform = @Sendable (RawAppStoreServerClient) async throws(AppStoreServerError) -> Void

  let endpoint: AppStoreServerEndpoint
  let method: RemoteRequest.Method
  let target: String
  var body: [UInt8]?
  var contentType: String?
  let response: String
  let perform: Perform

  var testDescription: String { "\(endpoint) \(target)" }

  init(
    _ endpoint: AppStoreServerEndpoint, _ method: RemoteRequest.Method, _ target: String,
    json: String? = nil, png: [UInt8]? = nil, answer response: String = "", _ perform: @escaping Perform
  ) {
    self.endpoint = endpoint
    self.method = method
    self.target = target
    self.body = json.map { Array($0.utf8) } ?? png
    self.contentType = json != nil ? "application/json" : png != nil ? "image/png" : nil
    self.response = response
    self.perform = perform
  }

  static let uuid = UUIDString(rawValue: "1F0C6B7A-9a3e-4f43-8d15-3b8e3a2f7c11")
  static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00]

  static let all: [EndpointCall] =
    transactions + subscriptions + purchases + notifications + retention + groups + advancedCommerce
    + externalPurchases

  static let transactions: [EndpointCall] = [
    EndpointCall(.transactionHistory, .get, "/inApps/v2/history/1", answer: #"{"hasMore":false}"#) {
      client throws(AppStoreServerError) in
      let page = try await client.content(.transactionHistory(of: "1"))
      #expect(
        page
          == TransactionHistoryResponse().with {
            $0.hasMore = false
          })
    },
    EndpointCall(
      .transactionHistory, .get,
      "/inApps/v2/history/1?revision=a%2Bb%2F%3D&startDate=1700000000000&endDate=1700000000001"
        + "&productId=p%201&productId=p2&productType=AUTO_RENEWABLE&productType=CONSUMABLE&sort=DESCENDING"
        + "&subscriptionGroupIdentifier=g1&subscriptionGroupIdentifier=g2&inAppOwnershipType=FAMILY_SHARED"
        + "&revoked=false",
      answer: #"{"revision":"r","hasMore":true,"signedTransactions":["a","b"]}"#
    ) { client throws(AppStoreServerError) in
      let filter = TransactionHistoryFilter().with {
        $0.startDate = Timestamp(millisecondsSince1970: 1_700_000_000_000.75)
        $0.endDate = Timestamp(millisecondsSince1970: 1_700_000_000_001)
        $0.productIds = ["p 1", "p2"]
        $0.productTypes = [.autoRenewable, .consumable]
        $0.sort = .descending
        $0.subscriptionGroupIdentifiers = ["g1", "g2"]
        $0.inAppOwnershipType = .familyShared
        $0.revoked = false
      }
      let page = try await client.content(.transactionHistory(of: "1", filter: filter), after: "a+b/=")
      #expect(page.revision == "r" && page.hasMore == true && page.signedTransactions == ["a", "b"])
    },
    EndpointCall(.transactionHistoryV1, .get, "/inApps/v1/history/1?revision=r", answer: "{}") {
      client throws(AppStoreServerError) in
      _ = try await client.content(.transactionHistoryV1(of: "1"), after: "r")
    },
    EndpointCall(
      .transaction, .get, "/inApps/v1/transactions/%2F..%2F%C3%A9", answer: #"{"signedTransactionInfo":"a"}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.transaction("/../é"))
      #expect(response.signedTransactionInfo == "a")
    },
    EndpointCall(
      .appTransaction, .get, "/inApps/v1/transactions/appTransactions/1",
      answer: #"{"signedAppTransactionInfo":"a"}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.appTransaction(of: "1"))
      #expect(response.signedAppTransactionInfo == "a")
    },
    EndpointCall(
      .orderLookup, .get, "/inApps/v1/lookup/M1", answer: #"{"status":0,"signedTransactions":["a"]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.orderLookup("M1"))
      #expect(response.status == .valid && response.signedTransactions == ["a"])
    },
    EndpointCall(.refundHistory, .get, "/inApps/v2/refund/lookup/1?revision=r", answer: "{}") {
      client throws(AppStoreServerError) in
      _ = try await client.content(.refundHistory(of: "1"), after: "r")
    },
    EndpointCall(
      .refundHistoryV1, .get, "/inApps/v1/refund/lookup/1", answer: #"{"signedTransactions":[]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.refundHistoryV1(of: "1"))
      #expect(response.signedTransactions == [])
    },
  ]

  static let subscriptions: [EndpointCall] = [
    EndpointCall(
      .subscriptionStatuses, .get, "/inApps/v1/subscriptions/1?status=1&status=4",
      answer: #"{"data":[{"lastTransactions":[{"status":4}]}]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(
        .subscriptionStatuses(of: "1", statuses: [.active, .gracePeriod]))
      #expect(response.data?.first?.lastTransactions?.first?.status == .gracePeriod)
    },
    EndpointCall(
      .extendRenewalDate, .put, "/inApps/v1/subscriptions/extend/1",
      json: #"{"extendByDays":90,"extendReasonCode":3,"requestIdentifier":"mine"}"#,
      answer: #"{"success":true,"effectiveDate":1700000000000}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(
        .extendRenewalDate(
          of: "1",
          ExtendRenewalDateRequest(
            extendByDays: 90, extendReasonCode: .serviceOutage, requestIdentifier: "mine")))
      #expect(response.success == true)
      #expect(response.effectiveDate == Timestamp(secondsSince1970: 1_700_000_000))
    },
    EndpointCall(
      .massExtendRenewalDate, .post, "/inApps/v1/subscriptions/extend/mass",
      json: #"{"requestIdentifier":"\#(uuid.rawValue)","extendByDays":1,"extendReasonCode":0,"#
        + #""productId":"p","storefrontCountryCodes":["USA","MEX"]}"#,
      answer: #"{"requestIdentifier":"\#(uuid.rawValue)"}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(
        .massExtendRenewalDate(
          MassExtendRenewalDateRequest(
            requestIdentifier: uuid, extendByDays: 1, extendReasonCode: .undeclared, productId: "p"
          ).with {
            $0.storefrontCountryCodes = ["USA", "MEX"]
          }))
      #expect(response.requestIdentifier == uuid)
    },
    EndpointCall(
      .massExtendRenewalDateStatus, .get, "/inApps/v1/subscriptions/extend/mass/p/\(uuid.rawValue)",
      answer: #"{"complete":true,"succeededCount":2,"failedCount":1}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(
        .massExtendRenewalDateStatus(productId: "p", requestIdentifier: uuid))
      #expect(response.complete == true && response.succeededCount == 2 && response.failedCount == 1)
    },
  ]

  static let purchases: [EndpointCall] = [
    EndpointCall(
      .sendConsumption, .put, "/inApps/v2/transactions/consumption/1",
      json: #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false,"#
        + #""consumptionPercentage":25000,"refundPreference":"GRANT_PRORATED"}"#
    ) { client throws(AppStoreServerError) in
      try await client.send(
        .sendConsumption(
          ConsumptionRequest(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false
          ).with {
            $0.consumptionPercentage = 25_000
            $0.refundPreference = .grantProrated
          }, of: "1"))
    },
    EndpointCall(
      .sendConsumptionV1, .put, "/inApps/v1/transactions/consumption/1",
      json: #"{"customerConsented":true,"platform":1,"appAccountToken":""}"#
    ) { client throws(AppStoreServerError) in
      try await client.send(
        .sendConsumptionV1(
          ConsumptionRequestV1().with {
            $0.customerConsented = true
            $0.platform = .apple
            $0.appAccountToken = UUIDString(rawValue: "")
          }, of: "1"))
    },
    EndpointCall(
      .setAppAccountToken, .put, "/inApps/v1/transactions/1/appAccountToken",
      json: #"{"appAccountToken":"\#(uuid.rawValue)"}"#
    ) { client throws(AppStoreServerError) in try await client.send(.setAppAccountToken(uuid, of: "1")) },
    EndpointCall(.finish, .post, "/inApps/v1/transactions/1/finish") {
      client throws(AppStoreServerError) in try await client.send(.finish("1"))
    },
  ]

  static let notifications: [EndpointCall] = [
    EndpointCall(
      .requestTestNotification, .post, "/inApps/v1/notifications/test",
      answer: #"{"testNotificationToken":"t"}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.requestTestNotification())
      #expect(response.testNotificationToken == "t")
    },
    EndpointCall(
      .testNotificationStatus, .get, "/inApps/v1/notifications/test/t_1",
      answer: #"{"signedPayload":"a","sendAttempts":[{"sendAttemptResult":"SUCCESS"}]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.testNotificationStatus("t_1"))
      #expect(response.sendAttempts?.first?.sendAttemptResult == .success)
    },
    EndpointCall(
      .notificationHistory, .post, "/inApps/v1/notifications/history?paginationToken=t%3D",
      json: #"{"startDate":1700000000000,"endDate":1700000001000,"notificationType":"SUBSCRIBED","#
        + #""notificationSubtype":"INITIAL_BUY","onlyFailures":true}"#,
      answer: #"{"hasMore":false,"notificationHistory":[{"signedPayload":"a"}]}"#
    ) { client throws(AppStoreServerError) in
      let request = NotificationHistoryRequest(
        startDate: Timestamp(secondsSince1970: 1_700_000_000),
        endDate: Timestamp(secondsSince1970: 1_700_000_001)
      ).with {
        $0.notificationType = .subscribed
        $0.notificationSubtype = .initialBuy
        $0.onlyFailures = true
      }
      let response = try await client.content(.notificationHistory(request), after: "t=")
      #expect(response.notificationHistory?.first?.signedPayload == "a")
    },
  ]

  static let groups: [EndpointCall] = [
    EndpointCall(
      .currentGroups, .get, "/groups/v1/currentGroups/1", answer: #"{"groups":[{"groupId":"g"}]}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.currentGroups(of: "1"))
      #expect(response.groups?.first?.groupId == "g")
    },
    EndpointCall(
      .groupMembers, .get, "/groups/v1/group/g?limit=100&paginationToken=t",
      answer: #"{"members":[{"appTransactionId":"a"}],"hasMore":false}"#
    ) { client throws(AppStoreServerError) in
      let response = try await client.content(.groupMembers(of: "g", limit: 100), after: "t")
      #expect(response.members?.first?.appTransactionId == "a")
    },
  ]
}

extension RawAppStoreServerClient {
  func send<Response, Value>(
    _ call: AppStoreServerCall<Response, Value>
  ) async throws(AppStoreServerError) -> Unverified<Response> { Unverified(try await answer(call).response) }

  func send(_ call: AppStoreServerCall<NoContent, NoContent>) async throws(AppStoreServerError) {
    _ = try await answer(call)
  }

  func send<Response, Element>(
    _ call: AppStoreServerPagedCall<Response, Element>, after token: String? = nil
  ) async throws(AppStoreServerError) -> Unverified<Response> { try await send(call.page(token)) }

  /// Returns the App Store's answer, decoded.
  func content<Response, Value>(
    _ call: AppStoreServerCall<Response, Value>
  ) async throws(AppStoreServerError) -> Response { try await send(call).unsafelyAssumeAuthentic() }

  /// A page of what the App Store answers, decoded.
  func content<Response, Element>(
    _ call: AppStoreServerPagedCall<Response, Element>, after token: String? = nil
  ) async throws(AppStoreServerError) -> Response {
    try await send(call, after: token).unsafelyAssumeAuthentic()
  }
}
