// SPDX-License-Identifier: Apache-2.0

@testable import GooglePlay
import ReceiptCodec
import ReceiptTesting
import Testing

/// Calls about orders, disputes, deferrals, external transactions and the catalogue: their requests, what is refused before
/// it is sent, and their pages.
@Suite struct PlayCallTests {
  private static let base =
    "https://androidpublisher.googleapis.com/androidpublisher/v3/applications/com.example.app"

  struct Sent: Sendable, CustomTestStringConvertible {
    let line: String
    var body: String?
    let send: @Sendable (GooglePlayClient) async throws -> Void
    var testDescription: String { line }

    init(
      _ line: String, _ body: String? = nil,
      _ send: @escaping @Sendable (GooglePlayClient) async throws -> Void
    ) {
      (self.line, self.body, self.send) = (line, body, send)
    }
  }

  private static let calls = [
    Sent("GET /orders/GPA.1..0") { _ = try await $0.send(.order("GPA.1..0")) },
    Sent("GET /orders:batchGet?orderIds=GPA.1&orderIds=GPA.2") {
      _ = try await $0.send(.orders(["GPA.1", "GPA.2"]))
    },
    Sent(
      "POST /orders/GPA.1:reviewrefund",
      #"{"pendingRefundToken":"t","refundPreference":"DECLINE","sampleContentProvided":false,"#
        + #""consumptionPercentageMilliunits":45200,"consumptionUsageEvents":[{"consumptionTime":"#
        + #""2025-10-09T08:53:20.000Z","location":{"regionCode":"CH"}}]}"#
    ) {
      try await $0.send(
        .reviewRefund(
          of: "GPA.1",
          with: PlayRequests.statement {
            $0.consumptionPercentageMilliunits = 45_200
            let event = PlayUsageEvent().with {
              $0.consumptionTime = PlayFixture.now
              $0.location = PlayCoarseLocation(regionCode: "CH")
            }
            $0.consumptionUsageEvents = [event]
          }))
    },
    Sent(
      "POST /purchases/subscriptionsv2/tokens/t:cancel",
      #"{"cancellationContext":{"cancellationType":"DEVELOPER_REQUESTED_STOP_PAYMENTS"}}"#
    ) { _ = try await $0.send(.cancelSubscription("t", with: PlayRequests.cancel(.developerStopsPayments))) },
    Sent(
      "POST /purchases/subscriptionsv2/tokens/t:defer",
      #"{"deferralContext":{"deferDuration":"604800s","etag":"e"}}"#
    ) { _ = try await $0.send(.deferSubscription("t", with: PlayRequests.deferral(days: 7, "e"))) },
    Sent("POST /purchases/subscriptions/pro/tokens/t:cancel") {
      try await $0.send(.cancelSubscriptionV1(of: "pro", token: "t"))
    },
    Sent(
      "POST /purchases/subscriptions/pro/tokens/t:defer",
      #"{"deferralInfo":{"expectedExpiryTimeMillis":"1000","desiredExpiryTimeMillis":"2000"}}"#
    ) {
      _ = try await $0.send(
        .deferSubscriptionV1(of: "pro", token: "t", with: PlayRequests.deferral(from: 1000, to: 2000)))
    },
    Sent(
      "POST /externalTransactions?externalTransactionId=x_-1",
      #"{"originalPreTaxAmount":{"currency":"USD","priceMicros":"9990000"},"originalTaxAmount":{"currency":"USD","#
        + #""priceMicros":"1000000"},"transactionTime":"2025-10-09T08:53:20.000Z","userTaxAddress":{"regionCode":"US"},"#
        + #""oneTimeTransaction":{"externalTransactionToken":"token"}}"#
    ) {
      _ = try await $0.send(.createExternalTransaction("x_-1", with: PlayRequests.externalTransaction()))
    },
    Sent("GET /externalTransactions/x") { _ = try await $0.send(.externalTransaction("x")) },
    Sent(
      "POST /externalTransactions/x:refund",
      #"{"refundTime":"2025-10-09T08:53:20.000Z","partialRefund":{"refundId":"r","refundPreTaxAmount":"#
        + #"{"currency":"USD","priceMicros":"5"}}}"#
    ) {
      let request = PlayRequests.partialRefund("r", PlayRequests.price(5))
      _ = try await $0.send(.refundExternalTransaction("x", with: request))
    },
    Sent("GET /subscriptions?pageSize=2&pageToken=n") {
      let query = PlayCatalogQuery().with {
        $0.pageSize = 2
        $0.pageToken = "n"
      }
      _ = try await $0.send(.catalogSubscriptions(query: query))
    },
    Sent("GET /subscriptions/-/basePlans/-/offers") {
      _ = try await $0.send(.catalogOffers(of: "-", basePlanId: "-"))
    },
    Sent("GET /oneTimeProducts") { _ = try await $0.send(.catalogProducts()) },
    Sent("GET /oneTimeProducts/coins") { _ = try await $0.send(.catalogProduct("coins")) },
  ]

  @Test("each call is the method, the path, the query and the body that Google documents", arguments: calls)
  func requests(_ call: Sent) async throws {
    let transport = PlayFixture.transport([.json("{}")])
    try await call.send(try PlayFixture.client(transport))
    let request = try #require(transport.requests.last)
    #expect(request.description.replacing(Self.base, with: "") == call.line)
    #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == call.body)
  }

  @Test("a query that is too long for a URL is the body of a POST, as Google's own clients send it")
  func longQuery() async throws {
    func request(_ count: Int) async throws -> RemoteRequest {
      let transport = PlayFixture.transport([.json("{}")])
      let identifiers = (0..<count).map { "GPA.1234-5678-9012-\(10_000 + $0)" }
      _ = try await PlayFixture.client(transport).send(.orders(identifiers))
      return try #require(transport.requests.last)
    }
    let short = try await request(10)
    #expect(short.method == .get)
    #expect(short.body == nil)
    let long = try await request(1000)
    #expect(long.description == "POST \(Self.base)/orders:batchGet")
    #expect(long.headers.contains(HTTPHeader("X-HTTP-Method-Override", "GET")))
    #expect(long.headers.contains(HTTPHeader("Content-Type", "application/x-www-form-urlencoded")))
    let body = String(decoding: try #require(long.body), as: UTF8.self)
    #expect(body.split(separator: "&").count == 1000)
    #expect(body.hasPrefix("orderIds=GPA.1234-5678-9012-10000&"))
  }

  struct Invalid: Sendable, CustomTestStringConvertible {
    let place: String
    let send: @Sendable (GooglePlayClient) async throws -> Void
    var testDescription: String { place }

    init(
      _ place: String, _ send: @escaping @Sendable (GooglePlayClient) async throws -> Void
    ) {
      (self.place, self.send) = (place, send)
    }

    static func orders(_ identifiers: [String]) -> Invalid {
      Invalid("orderIds") { _ = try await $0.send(.orders(identifiers)) }
    }

    static func statement(_ place: String, _ change: @escaping @Sendable (inout ReviewRefundRequest) -> Void)
      -> Invalid
    {
      Invalid(place) {
        try await $0.send(.reviewRefund(of: "GPA.1", with: PlayRequests.statement("t", change)))
      }
    }

    static func deferral(_ place: String, _ seconds: Int64, _ etag: String = "e") -> Invalid {
      Invalid(place) {
        let request = DeferSubscriptionRequest(
          deferralContext: PlayDeferralContext(deferSeconds: seconds, etag: etag))
        _ = try await $0.send(.deferSubscription("t", with: request))
      }
    }

    static func transaction(
      _ place: String, id: String = "x", _ request: CreateExternalTransactionRequest
    ) -> Invalid {
      Invalid(place) { _ = try await $0.send(.createExternalTransaction(id, with: request)) }
    }

    static func refund(_ place: String, _ request: RefundExternalTransactionRequest) -> Invalid {
      Invalid(place) { _ = try await $0.send(.refundExternalTransaction("x", with: request)) }
    }
  }

  private static let invalid: [Invalid] = [
    .orders([]), .orders(["GPA.1", "GPA.2", "GPA.1"]), .orders((0...1000).map { "GPA.\($0)" }),
    .statement("$.pendingRefundToken") { $0.pendingRefundToken = "" },
    .statement("$.consumptionPercentageMilliunits") { $0.consumptionPercentageMilliunits = -1 },
    .statement("$.consumptionPercentageMilliunits") { $0.consumptionPercentageMilliunits = 100_001 },
    .statement("$.consumptionUsageEvents") {
      $0.consumptionUsageEvents = Array(repeating: PlayUsageEvent(), count: 1001)
    },
    .statement("$.consumptionUsageEvents[1].consumptionItemDescription") {
      let event = PlayUsageEvent().with {
        $0.consumptionItemDescription = String(repeating: "x", count: 5001)
      }
      $0.consumptionUsageEvents = [PlayUsageEvent(), event]
    },
    .statement("$.consumptionUsageEvents[0].location.regionCode") {
      $0.consumptionUsageEvents = [PlayUsageEvent().with { $0.location = PlayCoarseLocation(regionCode: "") }]
    },
    .deferral("$.deferralContext.deferDuration", 86_399),
    .deferral("$.deferralContext.deferDuration", 31_622_401), .deferral("$.deferralContext.etag", 86_400, ""),
    Invalid("$.deferralInfo.desiredExpiryTimeMillis") {
      let request = PlayRequests.deferral(from: 2000, to: 2000)
      _ = try await $0.send(.deferSubscriptionV1(of: "pro", token: "t", with: request))
    },
    Invalid("$.externalAccountIds.obfuscatedProfileId") {
      let request = SubscriptionAcknowledgeRequest().with {
        $0.externalAccountIds = PlayExternalAccountIds().with {
          $0.obfuscatedProfileId = String(repeating: "x", count: 65)
        }
      }
      try await $0.send(.acknowledgeSubscription(of: "pro", token: "t", with: request))
    },
    Invalid("$.revocationContext") {
      let request = RevokeSubscriptionRequest(revocationContext: PlayRevocationContext())
      _ = try await $0.send(.revokeSubscription("t", with: request))
    },
    Invalid("externalTransactionId") { _ = try await $0.send(.externalTransaction("a.b")) },
    .transaction("externalTransactionId", id: "", PlayRequests.externalTransaction()),
    .transaction("externalTransactionId", id: "ä", PlayRequests.externalTransaction()),
    .transaction(
      "externalTransactionId", id: String(repeating: "x", count: 64), PlayRequests.externalTransaction()),
    .transaction(
      "$.recurringTransaction", PlayRequests.externalTransaction { $0.oneTimeTransaction = nil }),
    .transaction(
      "$.recurringTransaction",
      PlayRequests.recurring { $0.externalTransactionToken = "t" }.with {
        $0.oneTimeTransaction = PlayOneTimeExternalTransaction()
      }),
    .transaction("$.recurringTransaction", PlayRequests.recurring { _ in }),
    .transaction(
      "$.recurringTransaction",
      PlayRequests.recurring {
        $0.externalTransactionToken = "t"
        $0.otherRecurringProduct = EmptyObject()
      }),
    .transaction(
      "$.recurringTransaction.initialExternalTransactionId",
      PlayRequests.recurring { $0.initialExternalTransactionId = "a/b" }),
    .transaction(
      "$.originalPreTaxAmount.priceMicros",
      PlayRequests.externalTransaction { $0.originalPreTaxAmount = PlayRequests.price(-1) }),
    .transaction(
      "$.originalTaxAmount.currency",
      PlayRequests.externalTransaction { $0.originalTaxAmount = PlayRequests.price(0, "") }),
    .transaction(
      "$.userTaxAddress.regionCode",
      PlayRequests.externalTransaction { $0.userTaxAddress = PlayTaxAddress(regionCode: "") }),
    .transaction(
      "$.externalOfferDetails.installedAppPackage",
      PlayRequests.externalTransaction {
        $0.externalOfferDetails = PlayExternalOfferDetails().with { $0.linkType = .appDownload }
      }),
    .transaction(
      "$.externalContentLinkDetails.installedAppPackage",
      PlayRequests.externalTransaction {
        $0.externalContentLinkDetails = PlayExternalContentLinkDetails(linkType: .appDownload)
      }),
    .transaction(
      "$.transactionProgramCode",
      PlayRequests.externalTransaction {
        $0.externalOfferDetails = PlayExternalOfferDetails()
        $0.transactionProgramCode = 1
      }),
    .refund("$.partialRefund", RefundExternalTransactionRequest(refundTime: PlayFixture.now)),
    .refund(
      "$.partialRefund",
      PlayRequests.partialRefund("r", PlayRequests.price(1)).with { $0.fullRefund = EmptyObject() }),
    .refund("$.partialRefund.refundId", PlayRequests.partialRefund("", PlayRequests.price(1))),
    .refund(
      "$.partialRefund.refundPreTaxAmount.priceMicros",
      PlayRequests.partialRefund("r", PlayRequests.price(-1))),
  ]

  @Test("what Google documents as invalid is not sent, and the error names the place", arguments: invalid)
  func limits(_ invalid: Invalid) async throws {
    let transport = PlayFixture.transport([.json("{}")])
    let client = try PlayFixture.client(transport)
    let error = await #expect(throws: GooglePlayError.self) { try await invalid.send(client) }
    guard case .invalidRequest(let place, _)? = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(place == invalid.place)
    #expect(transport.requests.isEmpty)
  }

  @Test("the catalogue comes page after page, and a page that was there before is an error")
  func pages() async throws {
    let transport = PlayFixture.transport([
      .json(#"{"oneTimeProducts":[{"productId":"a"},{"productId":"b"}],"nextPageToken":"2"}"#),
      .json(#"{"oneTimeProducts":[{"productId":"c"}]}"#),
    ])
    var products: [String?] = []
    for try await product in try PlayFixture.client(transport).catalogProducts() {
      products.append(product.productId)
    }
    #expect(products == ["a", "b", "c"])
    #expect(
      transport.requests.filter { !PlayFixture.isTokenRequest($0) }.map(\.url.query) == [
        "pageSize=1000", "pageSize=1000&pageToken=2",
      ])
    let endless = PlayFixture.transport([.json(#"{"subscriptions":[{"productId":"a"}],"nextPageToken":"2"}"#)]
    )
    let client = try PlayFixture.client(endless)
    let error = await playError { () async throws(GooglePlayError) in
      for try await _ in client.catalogSubscriptions() {}
    }
    guard case .malformedResponse(let malformed)? = error?.cause else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(error?.endpoint == .catalogSubscriptions)
    #expect(malformed.place == .jsonPath("$.nextPageToken"))
  }
}
