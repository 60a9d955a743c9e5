// SPDX-License-Identifier: Apache-2.0

@testable import GooglePlay
import ReceiptCodec
import ReceiptTesting
import Testing

/// Calls of the Google Play Developer API, each with its request, and what every refusal means.
@Suite struct GooglePlayClientTests {
  private static let base =
    "https://androidpublisher.googleapis.com/androidpublisher/v3/applications/com.example.app"

  private static func request(
    _ answer: String = "{}", _ call: (GooglePlayClient) async throws -> Void
  ) async throws -> (line: String, body: String?) {
    let transport = PlayFixture.transport([.json(answer)])
    try await call(try PlayFixture.client(transport))
    let request = try #require(transport.requests.last { !PlayFixture.isTokenRequest($0) })
    #expect(request.headers.contains(HTTPHeader("Authorization", "Bearer token-1")))
    return (
      request.description.replacing(base, with: ""), request.body.map { String(decoding: $0, as: UTF8.self) }
    )
  }

  @Test("each call is the method, the path, the query and the body that Google documents")
  func calls() async throws {
    var sent = try await Self.request { _ = try await $0.send(.product("t.1")) }
    #expect(sent == ("GET /purchases/productsv2/tokens/t.1", nil))
    sent = try await Self.request { _ = try await $0.send(.productV1(of: "coins", token: "t/1")) }
    #expect(sent == ("GET /purchases/products/coins/tokens/t%2F1", nil))
    sent = try await Self.request { _ = try await $0.send(.subscription("t:cancel")) }
    #expect(sent == ("GET /purchases/subscriptionsv2/tokens/t%3Acancel", nil))
    sent = try await Self.request("") {
      try await $0.send(
        .acknowledgeProduct(
          of: "coins", token: "t", with: ProductAcknowledgeRequest().with { $0.developerPayload = "p" }))
    }
    #expect(sent == ("POST /purchases/products/coins/tokens/t:acknowledge", #"{"developerPayload":"p"}"#))
    sent = try await Self.request("") {
      try await $0.send(
        .acknowledgeSubscription(of: "pro", token: "t", with: SubscriptionAcknowledgeRequest()))
    }
    #expect(sent == ("POST /purchases/subscriptions/pro/tokens/t:acknowledge", "{}"))
    sent = try await Self.request("") { try await $0.send(.consumeProduct(of: "coins", token: "t")) }
    #expect(sent == ("POST /purchases/products/coins/tokens/t:consume", nil))
    sent = try await Self.request {
      let context = PlayRevocationContext().with { $0.proratedRefund = EmptyObject() }
      _ = try await $0.send(
        .revokeSubscription("t", with: RevokeSubscriptionRequest(revocationContext: context)))
    }
    #expect(
      sent == (
        "POST /purchases/subscriptionsv2/tokens/t:revoke", #"{"revocationContext":{"proratedRefund":{}}}"#
      ))
    sent = try await Self.request("") { try await $0.send(.refundSubscription(of: "pro", token: "t")) }
    #expect(sent == ("POST /purchases/subscriptions/pro/tokens/t:refund", nil))
    sent = try await Self.request("") { try await $0.send(.revokeSubscriptionV1(of: "pro", token: "t")) }
    #expect(sent == ("POST /purchases/subscriptions/pro/tokens/t:revoke", nil))
    sent = try await Self.request("") { try await $0.send(.refundOrder("GPA.1", revokesAccess: true)) }
    #expect(sent == ("POST /orders/GPA.1:refund?revoke=true", nil))
    sent = try await Self.request {
      let query = VoidedPurchasesQuery().with {
        $0.startTime = Timestamp(millisecondsSince1970: 1_759_000_000_000)
        $0.maxResults = 10
        $0.type = .oneTimeAndSubscriptions
        $0.includesPartialRefunds = true
      }
      _ = try await $0.send(.voidedPurchases(query: query))
    }
    #expect(
      sent == (
        "GET /purchases/voidedpurchases?startTime=1759000000000&maxResults=10&type=1"
          + "&includeQuantityBasedPartialRefund=true", nil
      ))
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    let status: Int
    let name: String
    var reason = "other"
    let code: GooglePlayError.Code
    let requests: Int
    var testDescription: String { "\(status) \(name) \(reason)" }
  }

  private static let refused = [
    Refused(status: 400, name: "INVALID_ARGUMENT", code: .invalidRequest, requests: 1),
    Refused(status: 401, name: "UNAUTHENTICATED", code: .unauthorized, requests: 2),
    Refused(status: 403, name: "PERMISSION_DENIED", code: .permissionDenied, requests: 1),
    Refused(
      status: 403, name: "PERMISSION_DENIED", reason: "rateLimitExceeded", code: .quotaExceeded, requests: 4
    ),
    Refused(status: 403, name: "RESOURCE_EXHAUSTED", code: .quotaExceeded, requests: 4),
    Refused(status: 404, name: "NOT_FOUND", code: .notFound, requests: 1),
    Refused(status: 408, name: "DEADLINE_EXCEEDED", code: .other, requests: 4),
    Refused(status: 409, name: "ABORTED", reason: "concurrentUpdate", code: .conflict, requests: 4),
    Refused(
      status: 409, name: "ALREADY_EXISTS", reason: "alreadyExists", code: .alreadyExists, requests: 1),
    Refused(
      status: 410, name: "FAILED_PRECONDITION", reason: "purchaseTokenNoLongerValid",
      code: .tokenNoLongerValid, requests: 1),
    Refused(status: 418, name: "TEAPOT", code: .other, requests: 1),
    Refused(status: 429, name: "RESOURCE_EXHAUSTED", code: .quotaExceeded, requests: 4),
    Refused(status: 500, name: "INTERNAL", code: .unavailable, requests: 4),
    Refused(status: 503, name: "UNAVAILABLE", code: .unavailable, requests: 4),
  ]

  @Test("every refusal has its code; those that pass are tried again", arguments: refused)
  func refusals(_ refused: Refused) async throws {
    let transport = PlayFixture.transport([
      PlayFixture.error(refused.status, refused.name, reason: refused.reason)
    ])
    let client = try PlayFixture.client(transport)
    let error = try #require(
      await playError { () async throws(GooglePlayError) in try await client.send(.subscription("t")) })
    #expect(error.code == refused.code)
    #expect(error.attempts == refused.requests)
    guard case .refused(let refusal) = error.cause else {
      Issue.record("\(error)")
      return
    }
    #expect(refusal.httpStatus == refused.status)
    #expect(refusal.status == refused.name)
    #expect(refusal.reason == refused.reason)
    #expect(refusal.message == "No.")
    #expect(error.isRetryable == (refused.requests == 4))
  }

  /// Sends a call of the endpoint.
  private static func send(
    _ endpoint: GooglePlayEndpoint, _ client: GooglePlayClient
  ) async throws(GooglePlayError) {
    switch endpoint {
    case .refundOrder: try await client.send(.refundOrder("GPA.1"))
    case .voidedPurchases: _ = try await client.send(.voidedPurchases())
    case .product: _ = try await client.send(.product("t"))
    case .productV1: _ = try await client.send(.productV1(of: "coins", token: "t"))
    case .acknowledgeProduct:
      try await client.send(.acknowledgeProduct(of: "coins", token: "t", with: ProductAcknowledgeRequest()))
    case .consumeProduct: try await client.send(.consumeProduct(of: "coins", token: "t"))
    case .subscription: _ = try await client.send(.subscription("t"))
    case .revokeSubscription:
      let context = PlayRevocationContext().with { $0.fullRefund = EmptyObject() }
      _ = try await client.send(
        .revokeSubscription("t", with: RevokeSubscriptionRequest(revocationContext: context)))
    case .acknowledgeSubscription:
      try await client.send(
        .acknowledgeSubscription(of: "pro", token: "t", with: SubscriptionAcknowledgeRequest()))
    case .refundSubscription: try await client.send(.refundSubscription(of: "pro", token: "t"))
    case .revokeSubscriptionV1: try await client.send(.revokeSubscriptionV1(of: "pro", token: "t"))
    case .cancelSubscription:
      _ = try await client.send(.cancelSubscription("t", with: PlayRequests.cancel(.userStopsRenewals)))
    case .cancelSubscriptionV1: try await client.send(.cancelSubscriptionV1(of: "pro", token: "t"))
    case .deferSubscription:
      _ = try await client.send(.deferSubscription("t", with: PlayRequests.deferral(days: 7, "e")))
    case .deferSubscriptionV1:
      _ = try await client.send(
        .deferSubscriptionV1(of: "pro", token: "t", with: PlayRequests.deferral(from: 1000, to: 2000)))
    case .order: _ = try await client.send(.order("GPA.1"))
    case .orders: _ = try await client.send(.orders(["GPA.1", "GPA.2"]))
    case .reviewRefund: try await client.send(.reviewRefund(of: "GPA.1", with: PlayRequests.statement()))
    case .createExternalTransaction:
      _ = try await client.send(.createExternalTransaction("x", with: PlayRequests.externalTransaction()))
    case .externalTransaction: _ = try await client.send(.externalTransaction("x"))
    case .refundExternalTransaction:
      _ = try await client.send(.refundExternalTransaction("x", with: PlayRequests.fullRefund))
    case .catalogSubscriptions: _ = try await client.send(.catalogSubscriptions())
    case .catalogOffers: _ = try await client.send(.catalogOffers(of: "-", basePlanId: "-"))
    case .catalogProducts: _ = try await client.send(.catalogProducts())
    case .catalogProduct: _ = try await client.send(.catalogProduct("coins"))
    }
  }

  @Test(
    "every call has every refusal; what may have been carried out is sent again only where Google states that it was not",
    arguments: GooglePlayEndpoint.allCases, refused)
  func refusals(of endpoint: GooglePlayEndpoint, _ refused: Refused) async throws {
    let transport = PlayFixture.transport([
      PlayFixture.error(refused.status, refused.name, reason: refused.reason)
    ])
    let client = try PlayFixture.client(transport)
    let error = try #require(
      await playError { () async throws(GooglePlayError) in try await Self.send(endpoint, client) })
    #expect(error.endpoint == endpoint)
    #expect(error.code == refused.code)
    let mayHaveHadAnEffect = refused.code == .unavailable || refused.status == 408
    #expect(error.attempts == (mayHaveHadAnEffect && !endpoint.isIdempotent ? 1 : refused.requests))
    #expect(error.isRetryable == (refused.requests == 4))
    #expect(transport.requests.count { !PlayFixture.isTokenRequest($0) } == error.attempts)
  }

  @Test("Google is asked again no earlier than it says")
  func retryAfter() async throws {
    let time = ManualTime(PlayFixture.now, random: 0)
    let transport = PlayFixture.transport([
      PlayFixture.error(429, "RESOURCE_EXHAUSTED", headers: [HTTPHeader("Retry-After", "7")]), .json("{}"),
    ])
    _ = try await PlayFixture.client(transport, time: time).send(.product("t"))
    #expect(time.sleeps == [.seconds(7)])
  }

  @Test("a page of HTML is no reason, and a body that is none of the call is an error")
  func malformed() async throws {
    var client = try PlayFixture.client(
      PlayFixture.transport([RemoteResponse(status: 404, body: Array("<html>".utf8))]))
    var error = await playError { () async throws(GooglePlayError) in try await client.send(.product("t")) }
    #expect(error?.code == .notFound)
    client = try PlayFixture.client(
      PlayFixture.transport([.json(#"{"lineItems":[{"expiryTime":"yesterday"}]}"#)]))
    error = await playError { () async throws(GooglePlayError) in try await client.send(.subscription("t")) }
    guard case .malformedResponse(let malformed)? = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(malformed.code == .invalidValue)
    #expect(malformed.place == .jsonPath("$.lineItems[0].expiryTime"))
  }

  @Test(
    "what would be another request is not sent",
    arguments: ["", ".", ".."])
  func pathValues(_ value: String) async throws {
    let transport = PlayFixture.transport([.json("{}")])
    let client = try PlayFixture.client(transport)
    let error = await playError { () async throws(GooglePlayError) in try await client.send(.product(value)) }
    #expect(
      error?.cause == .invalidRequest(place: "token", message: "It must not be empty, nor dots alone."))
    #expect(transport.requests.isEmpty)
  }

  @Test("a package name is one", arguments: ["", "..", "com..app", "com.example/app", "com.example.app "])
  func packageNames(_ name: String) async throws {
    let transport = PlayFixture.transport([.json("{}")])
    let client = try PlayFixture.client(transport, packageName: name)
    let error = await playError { () async throws(GooglePlayError) in try await client.send(.product("t")) }
    #expect(
      error?.cause
        == .invalidRequest(
          place: "packageName", message: "It must be a package name such as com.example.app."))
    #expect(transport.requests.isEmpty)
  }

  @Test("voided purchases come page after page, and a page that was there before is an error")
  func voidedPurchases() async throws {
    func page(_ tokens: [String], next: String?) -> RemoteResponse {
      let purchases = tokens.map { #"{"purchaseToken":"\#($0)","voidedTimeMillis":"1759000000000"}"# }
      let pagination = next.map { #","tokenPagination":{"nextPageToken":"\#($0)"}"# } ?? ""
      return .json(#"{"voidedPurchases":[\#(purchases.joined(separator: ","))]\#(pagination)}"#)
    }
    let transport = PlayFixture.transport([
      page(["a", "b"], next: "2"), page([], next: "3"), page(["c"], next: nil),
    ])
    var tokens: [String?] = []
    for try await voided in try PlayFixture.client(transport).voidedPurchases() {
      tokens.append(voided.purchaseToken)
    }
    #expect(tokens == ["a", "b", "c"])
    #expect(
      transport.requests.filter { !PlayFixture.isTokenRequest($0) }.map(\.url.query) == [
        nil, "token=2", "token=3",
      ])
    let endless = PlayFixture.transport([page(["a"], next: "2")])
    let client = try PlayFixture.client(endless)
    var count = 0
    let error = await playError { () async throws(GooglePlayError) in
      for try await _ in client.voidedPurchases() { count += 1 }
    }
    guard case .malformedResponse(let malformed)? = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(malformed.place == .jsonPath("$.tokenPagination.nextPageToken"))
    #expect(count == 1)
  }
}
