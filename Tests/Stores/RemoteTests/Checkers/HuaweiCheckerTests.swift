// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
@testable import RemoteChecks
import Testing

/// The answers of Huawei AppGallery about a genuinely signed purchase. The answers are signed, too.
@Suite struct HuaweiCheckerTests {
  /// An answer with a purchase, signed.
  private static func signed(
    as member: String = "inappPurchaseData", usesPSS: Bool = false,
    _ change: (inout HuaweiPurchase) -> Void = { _ in }
  ) throws -> JSONValue {
    let receipt = try JSONValue(parsing: try TestReceipts().huaweiPurchase(usesPSS: usesPSS, change))
    var members = [
      JSONMember(name: "responseCode", value: .string("0")),
      JSONMember(name: member, value: try #require(receipt["data"])),
      JSONMember(name: "dataSignature", value: try #require(receipt["signature"])),
    ]
    if let algorithm = receipt["signatureAlgorithm"] {
      members.append(JSONMember(name: "signatureAlgorithm", value: algorithm))
    }
    return .object(members)
  }

  private static let token = RemoteResponse.json(
    #"{"access_token":"a+b/c","token_type":"Bearer","expires_in":3600}"#)

  private static func check(
    _ responses: [RemoteResponse], requirements: PurchaseRequirements = PurchaseRequirements(),
    _ change: (inout HuaweiPurchase) -> Void = { _ in }
  ) async throws -> (answer: CheckerAnswer, requests: [RemoteRequest]) {
    let transport = FakeTransport(responses.map { .success($0) })
    let checker = HuaweiChecker(
      transport: transport, address: HuaweiAddress(.germany), clientId: "100000001",
      clientSecret: Secret("let me in"), verifier: try RemoteFixture.verifier(), requirements: requirements,
      retry: .once(within: .seconds(5)), time: ManualTime(RemoteFixture.now).remoteTime)
    let receipt = try #require(
      try RemoteFixture.verifier().verify(TestReceipts().huaweiPurchase(change)).receipt)
    return (await checker.check(receipt), transport.requests)
  }

  private static func answer(
    _ response: JSONValue, requirements: PurchaseRequirements = PurchaseRequirements(),
    _ change: (inout HuaweiPurchase) -> Void = { _ in }
  ) async throws -> CheckerAnswer {
    try await check(
      [token, .json(String(decoding: response.encoded(), as: UTF8.self))], requirements: requirements, change
    ).answer
  }

  private static let confirmed = CheckerAnswer.response(CheckerResponse(.confirmed, environment: .sandbox))

  // MARK: By reference

  private static func lookUp(
    _ response: JSONValue, productId: String? = nil, subscriptionId: String? = nil,
    _ change: (inout VerificationPolicy) -> Void = { _ in }
  ) async throws -> StoreAnswer {
    let transport = FakeTransport(
      [token, .json(String(decoding: response.encoded(), as: UTF8.self))].map { .success($0) })
    let verifier = try RemoteFixture.verifier { change(&$0) }
    let checker = HuaweiChecker(
      transport: transport, address: HuaweiAddress(.germany), clientId: "1",
      clientSecret: Secret("let me in"),
      verifier: verifier, retry: .once(within: .seconds(5)), time: ManualTime(RemoteFixture.now).remoteTime)
    let lookup = PurchaseLookup(verifier: verifier, huawei: checker, clock: { RemoteFixture.now })
    let purchase = try HuaweiPurchase(
      json: Array((response["inappPurchaseData"]?.string ?? "{}").utf8), part: "data", limits: .standard)
    return await lookup.answer(
      about: .huawei(
        purchaseToken: purchase.purchaseToken ?? "t",
        productId: subscriptionId == nil ? productId ?? purchase.productId ?? "coins" : nil,
        subscriptionId: subscriptionId))
  }

  @Test("a purchase by its token has the standing of Huawei's answer, under the policy")
  func reference() async throws {
    let known = try await Self.lookUp(Self.signed())
    #expect(known.reason == nil && known.store == "huawei" && known.environment == .sandbox)
    #expect(known.activePurchases(at: RemoteFixture.now).count == 1)
    #expect(known.standing(at: RemoteFixture.now)?.source == .store)
    let consumed = try await Self.lookUp(Self.signed { $0.consumptionState = 1 })
    #expect(consumed.standing(at: RemoteFixture.now)?.status == .consumed)
    #expect(consumed.activePurchases(at: RemoteFixture.now).isEmpty)
    let required = try await Self.lookUp(Self.signed { $0.consumptionState = 1 }) {
      $0.requiresCurrentPurchase = true
    }
    #expect(required.reason?.code == .notCurrent && required.purchases.isEmpty)
    let production = try await Self.lookUp(Self.signed()) { $0.otherStores = [.huawei: [.production]] }
    #expect(production.reason?.code == .wrongEnvironment)
    let other = try await Self.lookUp(Self.signed()) { $0.bundleIds = .oneOf(["com.example.other"]) }
    #expect(other.reason?.code != nil && other.purchases.isEmpty)
  }

  @Test("a token that Huawei does not know, and an answer that cannot be trusted, grant nothing")
  func unknownReference() async throws {
    let unknown = try await Self.lookUp(try JSONValue(parsing: Array(#"{"responseCode":"8"}"#.utf8)))
    #expect(unknown.reason?.code == .checkerRefused && !unknown.isUndetermined)
    let unsigned = try await Self.lookUp(
      .object((Self.signed().object ?? []).filter { $0.name != "dataSignature" }))
    #expect(unsigned.reason?.code == .checkerUnavailable && unsigned.isUndetermined)
    #expect(unsigned.purchases.isEmpty)
    let another = try await Self.lookUp(Self.signed(), productId: "another")
    #expect(another.reason?.code == .checkerRefused && another.purchases.isEmpty)
    let lookup = PurchaseLookup(verifier: try RemoteFixture.verifier())
    for reference in [
      PurchaseReference.appStoreTransaction("1"), .appStoreOrder("1"), .googlePlay(purchaseToken: "t"),
      .huawei(purchaseToken: "t", productId: "p"),
    ] {
      let answer = await lookup.answer(about: reference)
      #expect(answer.isUndetermined && !answer.isRetryable && answer.store == reference.store)
    }
  }

  @Test("a subscription is asked about at the subscription service, with the app's access token")
  func subscription() async throws {
    let (answer, requests) = try await Self.check([
      Self.token, .json(String(decoding: Self.signed().encoded(), as: UTF8.self)),
    ])
    #expect(answer.withoutStandings == Self.confirmed)
    try #require(requests.count == 2)
    #expect(requests[0].description == "POST https://oauth-login.cloud.huawei.com/oauth2/v3/token")
    #expect(
      requests[0].body.map { String(decoding: $0, as: UTF8.self) }
        == "grant_type=client_credentials&client_id=100000001&client_secret=let%20me%20in")
    #expect(
      requests[1].description
        == "POST https://subscr-dre.iap.cloud.huawei.eu/sub/applications/v2/purchases/get")
    #expect(
      requests[1].headers.contains(
        HTTPHeader("Authorization", "Basic " + Base64.encodeToString(Array("APPAT:a+b/c".utf8)))))
    #expect(
      requests[1].body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"purchaseToken":"0000019example.1.100000001","subscriptionId":"sub-1"}"#)
  }

  @Test("what was bought once is asked about at the order service")
  func order() async throws {
    let change: (inout HuaweiPurchase) -> Void = { $0.kind = .consumable }
    let response = try Self.signed(as: "purchaseTokenData", usesPSS: true, change)
    let (answer, requests) = try await Self.check(
      [Self.token, .json(String(decoding: response.encoded(), as: UTF8.self))], change)
    #expect(answer.withoutStandings == Self.confirmed)
    #expect(
      requests.last?.description
        == "POST https://orders-dre.iap.cloud.huawei.eu/applications/purchases/tokens/verify")
    #expect(
      requests.last?.body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"purchaseToken":"0000019example.1.100000001","productId":"\#(SampleReceipts.productId)"}"#)
  }

  @Test("each site has servers of its own")
  func sites() {
    #expect(
      HuaweiAddress.Site.allCases.map { HuaweiAddress($0).orders.host } == [
        "orders-drcn.iap.cloud.huawei.com.cn", "orders-dre.iap.cloud.huawei.eu",
        "orders-dra.iap.cloud.huawei.asia", "orders-drru.iap.cloud.huawei.ru",
      ])
  }

  @Test("the state of the purchase decides")
  func states() async throws {
    for (state, standing) in [
      (HuaweiPurchaseState.purchased, CheckerResponse.Standing.confirmed), (.cancelled, .revoked(at: nil)),
      (.refunded, .revoked(at: nil)), (.pending, .refused(message: "The purchase is not paid for yet.")),
      (
        .unknown(9),
        .refused(message: "Huawei names a state of the purchase that is not known.")
      ),
    ] {
      let answer = try await Self.answer(Self.signed { $0.purchaseState = state })
      #expect(answer.withoutStandings == .response(CheckerResponse(standing, environment: .sandbox)))
    }
    let cancelled = try await Self.answer(
      Self.signed {
        $0.purchaseState = .purchased
        $0.cancelTime = RemoteFixture.now
      })
    #expect(
      cancelled.withoutStandings
        == .response(CheckerResponse(.revoked(at: RemoteFixture.now), environment: .sandbox)))
    let current = PurchaseRequirements(requiresCurrentSubscription: true)
    let inGrace = try await Self.answer(
      Self.signed {
        $0.expirationDate = RemoteFixture.now.addingSeconds(-1)
        $0.graceExpirationTime = RemoteFixture.now.addingSeconds(1)
      }, requirements: current)
    #expect(inGrace.withoutStandings == Self.confirmed)
    for (seconds, isCurrent) in [(1.0, true), (0, false)] {
      let answer = try await Self.answer(
        Self.signed { $0.expirationDate = RemoteFixture.now.addingSeconds(seconds) }, requirements: current)
      #expect((answer.withoutStandings == Self.confirmed) == isCurrent)
    }
  }

  @Test(
    "every code has its answer",
    arguments: [
      ("5", "terminal"), ("6", "retryable"), ("8", "refused"), ("9", "refused"), ("11", "refused"),
      ("12345", "terminal"),
    ])
  func codes(code: String, expected: String) async throws {
    let answer = try await Self.answer(
      .object([
        JSONMember(name: "responseCode", value: .string(code)),
        JSONMember(name: "responseMessage", value: .string("words")),
      ]))
    switch answer {
    case .response(let response):
      guard case .refused(let message) = response.standing else {
        Issue.record("\(answer)")
        return
      }
      #expect(message.hasPrefix("Huawei answers with the code \(code): "))
      #expect(expected == "refused")
    case .terminalFailure(let message):
      #expect(message.hasPrefix("Huawei answers with the code \(code): "))
      #expect(expected == "terminal")
    case .retryableFailure: #expect(expected == "retryable")
    }
  }

  @Test("an answer that is not signed by the app's key decides nothing")
  func notGenuine() async throws {
    let genuine = try Self.signed()
    for (name, change) in [
      ("inappPurchaseData", { (text: String) in text.replacing(#""price":999"#, with: #""price":1"#) }),
      ("dataSignature", { (_: String) in "" }), ("dataSignature", { (_: String) in "!" }),
    ] {
      let altered = JSONValue.object(
        (genuine.object ?? []).map { member in
          guard member.name == name, let text = member.value.string else { return member }
          return JSONMember(name: name, value: .string(change(text)))
        })
      #expect(altered != genuine)
      guard case .terminalFailure(let message) = try await Self.answer(altered) else {
        Issue.record("\(name)")
        continue
      }
      #expect(message.hasPrefix("The purchase in Huawei's answer"))
    }
    // The answer about another purchase, though genuine.
    #expect(
      try await Self.answer(Self.signed { $0.purchaseToken = "other" })
        == .terminalFailure(message: "Huawei answers about another purchase."))
  }

  @Test("the subscription service need not sign, the order service must")
  func unsigned() async throws {
    func withoutSignature(_ answer: JSONValue) -> JSONValue {
      .object((answer.object ?? []).filter { $0.name != "dataSignature" })
    }
    #expect(try await Self.answer(withoutSignature(Self.signed())).withoutStandings == Self.confirmed)
    #expect(
      try await Self.answer(withoutSignature(Self.signed { $0.purchaseState = .refunded })).withoutStandings
        == .response(CheckerResponse(.revoked(at: nil), environment: .sandbox)))
    #expect(
      try await Self.answer(withoutSignature(Self.signed { $0.packageName = "com.example.other" }))
        == .terminalFailure(message: "Huawei answers about another purchase."))
    let change: (inout HuaweiPurchase) -> Void = { $0.kind = .consumable }
    guard
      case .terminalFailure(let message) = try await Self.answer(
        withoutSignature(Self.signed(as: "purchaseTokenData", change)), change)
    else {
      Issue.record("An order without a signature is believed.")
      return
    }
    #expect(message.hasPrefix("The purchase in Huawei's answer is not genuine: unsigned"))
  }

  @Test("an access token that is refused is renewed once")
  func renewed() async throws {
    let genuine = RemoteResponse.json(String(decoding: try Self.signed().encoded(), as: UTF8.self))
    var (answer, requests) = try await Self.check([
      Self.token, RemoteResponse(status: 401), Self.token, genuine,
    ])
    #expect(answer.withoutStandings == Self.confirmed)
    #expect(requests.count == 4)
    (answer, requests) = try await Self.check([
      Self.token, RemoteResponse(status: 401), Self.token, RemoteResponse(status: 401),
    ])
    #expect(
      answer == .terminalFailure(message: "Huawei does not accept the access token (HTTP status 401)."))
    #expect(requests.count == 4)
  }

  @Test("where no access token is issued, the secret is in no text")
  func noToken() async throws {
    let (answer, _) = try await Self.check([
      .json(#"{"error":"invalid_client","error_description":"no"}"#, status: 400)
    ])
    #expect(
      answer
        == .terminalFailure(message: "Huawei issued no access token: HTTP status 400: invalid_client: no"))
    let (later, _) = try await Self.check([RemoteResponse(status: 503)])
    guard case .retryableFailure = later else {
      Issue.record("\(later)")
      return
    }
  }
}
