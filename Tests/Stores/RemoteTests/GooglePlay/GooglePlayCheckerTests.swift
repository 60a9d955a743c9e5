// SPDX-License-Identifier: Apache-2.0

import GooglePlay
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
@testable import RemoteChecks
import Testing

/// The answers of Google Play about a genuinely signed purchase.
@Suite struct GooglePlayCheckerTests {
  private static func purchase(
    _ change: (inout GooglePlayPurchase) -> Void = { _ in }
  ) throws -> VerifiedReceipt {
    try #require(try RemoteFixture.verifier().verify(TestReceipts().googlePlayPurchase(change)).receipt)
  }

  /// The answer about a purchase, and what was asked.
  private static func answer(
    _ responses: [RemoteResponse], requirements: PurchaseRequirements = PurchaseRequirements(),
    _ change: (inout GooglePlayPurchase) -> Void = { _ in }
  ) async throws -> (answer: CheckerAnswer, asked: [String]) {
    let transport = PlayFixture.transport(responses)
    let client = try PlayFixture.client(
      transport, time: ManualTime(RemoteFixture.now), retry: .once(within: .seconds(5)), packageName: "")
    let answer = await GooglePlayChecker(client: client, requirements: requirements).check(
      try purchase(change))
    let asked = transport.requests.filter { !PlayFixture.isTokenRequest($0) }.map {
      $0.url.path.replacing(
        "/androidpublisher/v3/applications/\(SampleReceipts.bundleId)/purchases/", with: ""
      )
      .replacing("/tokens/\(SampleReceipts.googlePlayPurchase.purchaseToken ?? "")", with: "")
    }
    return (answer, asked)
  }

  private static func product(
    _ state: String = "PURCHASED", product: String = "com.example.app.coins",
    order: String = "GPA.1234-5678-9012-34567", account: String = "account-1", more: String = ""
  ) -> RemoteResponse {
    .json(
      """
      {"productLineItem":[{"productId":"\(product)"}],"purchaseStateContext":{"purchaseState":"\(state)"},\
      "orderId":"\(order)","obfuscatedExternalAccountId":"\(account)"\(more)}
      """)
  }

  private static func subscription(
    _ state: String, expires: Double = 3600, order: String = "GPA.1234-5678-9012-34567..3",
    product: String = "com.example.app.coins", more: String = ""
  ) -> RemoteResponse {
    .json(
      """
      {"subscriptionState":"SUBSCRIPTION_STATE_\(state)","lineItems":[{"productId":"\(product)","expiryTime":\
      "\(RemoteFixture.now.addingSeconds(expires).iso8601)","latestSuccessfulOrderId":"\(order)"}],\
      "externalAccountIdentifiers":{"obfuscatedExternalAccountId":"account-1"}\(more)}
      """)
  }

  private static func refused(
    _ message: String, _ environment: ReceiptEnvironment.Category? = .production
  ) -> CheckerAnswer {
    .response(CheckerResponse(.refused(message: message), environment: environment))
  }

  @Test("a one-time purchase stands, is refunded, or is not paid for yet")
  func products() async throws {
    var (answer, asked) = try await Self.answer([Self.product()])
    #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .production)))
    #expect(asked == ["productsv2"])
    (answer, _) = try await Self.answer([Self.product(more: #","testPurchaseContext":{"fopType":"TEST"}"#)])
    #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .sandbox)))
    (answer, _) = try await Self.answer([Self.product("CANCELLED")])
    #expect(answer == .response(CheckerResponse(.revoked(at: nil), environment: .production)))
    (answer, _) = try await Self.answer([Self.product("PENDING")])
    #expect(answer == Self.refused("The purchase is not paid for yet."))
    for state in ["PURCHASE_STATE_UNSPECIFIED", "NEW"] {
      (answer, _) = try await Self.answer([Self.product(state)])
      #expect(
        answer
          == .terminalFailure(message: "Google Play names no state of the purchase that is known (\(state)).")
      )
    }
  }

  @Test("an answer about another order, product or account is a refusal")
  func others() async throws {
    var (answer, _) = try await Self.answer([Self.product(order: "GPA.9")])
    #expect(answer == Self.refused("Google Play has another order for this purchase."))
    (answer, _) = try await Self.answer([Self.product(product: "gems")])
    #expect(answer == Self.refused("Google Play has another product for this purchase."))
    let owner = PurchaseRequirements(appAccountToken: UUIDString(rawValue: "account-1"))
    (answer, _) = try await Self.answer([Self.product()], requirements: owner)
    #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .production)))
    (answer, _) = try await Self.answer([Self.product(account: "account-2")], requirements: owner)
    #expect(answer == Self.refused("The purchase belongs to another account, or to none."))
  }

  @Test("a subscription must be of the order and, where that is required, run")
  func subscriptions() async throws {
    let renewing: (inout GooglePlayPurchase) -> Void = { $0.autoRenewing = true }
    let current = PurchaseRequirements(requiresCurrentSubscription: true)
    for (state, expires, isCurrent) in [
      ("ACTIVE", 1.0, true), ("ACTIVE", 0, false), ("IN_GRACE_PERIOD", 1, true), ("CANCELED", 1, true),
      ("CANCELED", -1, false), ("ON_HOLD", 1, false), ("PAUSED", 1, false), ("EXPIRED", -1, false),
    ] {
      let response = Self.subscription(state, expires: expires)
      var (answer, asked) = try await Self.answer([response], renewing)
      #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .production)))
      #expect(asked == ["subscriptionsv2"])
      (answer, _) = try await Self.answer([response], requirements: current, renewing)
      guard case .response(let stated) = answer else {
        Issue.record("\(answer)")
        continue
      }
      #expect((stated.standing == .confirmed) == isCurrent)
    }
    // A receipt that names no product is about all of the purchase.
    for (expires, isCurrent) in [(1.0, true), (-1, false)] {
      let (answer, _) = try await Self.answer(
        [Self.subscription("ACTIVE", expires: expires)], requirements: current
      ) {
        renewing(&$0)
        $0.productId = nil
      }
      guard case .response(let stated) = answer else {
        Issue.record("\(answer)")
        continue
      }
      #expect((stated.standing == .confirmed) == isCurrent)
    }
    for state in ["PENDING", "PENDING_PURCHASE_CANCELED"] {
      let (answer, _) = try await Self.answer([Self.subscription(state)], renewing)
      #expect(answer == Self.refused("The purchase is not paid for."))
    }
    var (answer, _) = try await Self.answer([Self.subscription("ACTIVE", order: "GPA.9..1")], renewing)
    #expect(answer == Self.refused("Google Play has another order for this purchase."))
    (answer, _) = try await Self.answer([Self.subscription("ACTIVE", product: "other")], renewing)
    #expect(answer == Self.refused("Google Play has another product for this purchase."))
    (answer, _) = try await Self.answer([Self.subscription("ACTIVE", more: #","testPurchase":{}"#)], renewing)
    #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .sandbox)))
    (answer, _) = try await Self.answer([Self.subscription("UNSPECIFIED")], renewing)
    #expect(
      answer
        == .terminalFailure(
          message:
            "Google Play names no state of the purchase that is known (SUBSCRIPTION_STATE_UNSPECIFIED)."))
  }

  /// A subscription with a base and an add-on, which expire after so many seconds.
  private static func withAddOn(base: Double, addOn: Double) -> RemoteResponse {
    let items = [("com.example.app.coins", base), ("com.example.app.extra", addOn)].map { product, expires in
      """
      {"productId":"\(product)","expiryTime":"\(RemoteFixture.now.addingSeconds(expires).iso8601)",\
      "latestSuccessfulOrderId":"GPA.1234-5678-9012-34567"}
      """
    }
    return .json(
      #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","lineItems":[\#(items.joined(separator: ","))]}"#)
  }

  @Test("another product of the purchase that runs longer does not make the one of the receipt current")
  func lineItems() async throws {
    let current = PurchaseRequirements(requiresCurrentSubscription: true)
    let products = ["com.example.app.coins", "com.example.app.extra"]
    for (base, addOn, claimed, isCurrent) in [
      (1.0, 1.0, [products[0]], true), (-1, 1, [products[0]], false), (-1, 1, [products[1]], true),
      (1, -1, [products[1]], false), (1, -1, [products[0]], true), (1, 1, products, true),
      (1, -1, products, false),
      (-1, 1, products, false),
    ] {
      let response = Self.withAddOn(base: base, addOn: addOn)
      let change: (inout GooglePlayPurchase) -> Void = {
        $0.autoRenewing = true
        $0.productId = claimed.count == 1 ? claimed[0] : nil
        $0.productIds = claimed.count == 1 ? nil : claimed
      }
      var (answer, _) = try await Self.answer([response], requirements: current, change)
      #expect(
        answer.withoutStandings
          == (isCurrent
            ? .response(CheckerResponse(.confirmed, environment: .production))
            : Self.refused(PurchaseRequirements.notActive("expired"))),
        "\(base) \(addOn) \(claimed)")
      (answer, _) = try await Self.answer([response], change)
      #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .production)))
    }
  }

  @Test("a purchase of several is revoked when all were refunded, and else says how many remain")
  func quantities() async throws {
    func answer(_ items: String) async throws -> CheckerAnswer {
      try await Self.answer([
        .json(
          """
          {"productLineItem":[\(items)],"purchaseStateContext":{"purchaseState":"PURCHASED"},\
          "orderId":"GPA.1234-5678-9012-34567"}
          """)
      ]).answer
    }
    func item(_ product: String, _ quantity: Int, _ refundable: Int?) -> String {
      let refundable = refundable.map { #","refundableQuantity":\#($0)"# } ?? ""
      return #"{"productId":"\#(product)","productOfferDetails":{"quantity":\#(quantity)\#(refundable)}}"#
    }
    let coins = "com.example.app.coins"
    func confirmed(_ note: String?) -> CheckerAnswer {
      .response(CheckerResponse(.confirmed, environment: .production, note: note))
    }
    let revoked = CheckerAnswer.response(CheckerResponse(.revoked(at: nil), environment: .production))
    #expect(try await answer(item(coins, 3, 0)) == revoked)
    #expect(try await answer(item(coins, 3, 3)).withoutStandings == confirmed(nil))
    #expect(try await answer(item(coins, 3, nil)).withoutStandings == confirmed(nil))
    #expect(
      try await answer(item(coins, 3, 1)).withoutStandings
        == confirmed("Google Play refunded 2 of 3; 1 remain."))
    // Another product of the order says nothing about the receipt's product.
    #expect(
      try await answer(item("other", 1, 0) + "," + item(coins, 1, 1)).withoutStandings == confirmed(nil))
    #expect(try await answer(item("other", 1, 1) + "," + item(coins, 1, 0)) == revoked)
  }

  @Test("a subscription bought again in the Play app is of the account of the expired one")
  func resubscription() async throws {
    let owner = PurchaseRequirements(appAccountToken: UUIDString(rawValue: "account-1"))
    func answer(_ members: String) async throws -> CheckerAnswer {
      let response = RemoteResponse.json(
        """
        {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","lineItems":[{"productId":"com.example.app.coins",\
        "expiryTime":"\(RemoteFixture.now.addingSeconds(60).iso8601)"}]\(members)}
        """)
      return try await Self.answer([response], requirements: owner) { $0.autoRenewing = true }.answer
    }
    func expired(_ account: String) -> String {
      """
      ,"outOfAppPurchaseContext":{"expiredPurchaseToken":"t0","expiredExternalAccountIdentifiers":\
      {"obfuscatedExternalAccountId":"\(account)"}}
      """
    }
    let confirmed = CheckerAnswer.response(CheckerResponse(.confirmed, environment: .production))
    let other = Self.refused("The purchase belongs to another account, or to none.")
    #expect(try await answer(expired("account-1")).withoutStandings == confirmed)
    #expect(try await answer(expired("account-2")) == other)
    #expect(try await answer("") == other)
    let own = #","externalAccountIdentifiers":{"obfuscatedExternalAccountId":"account-2"}"#
    #expect(try await answer(expired("account-1") + own) == other)
  }

  @Test("a purchase that does not say whether it renews is asked about as both")
  func prepaid() async throws {
    let (answer, asked) = try await Self.answer([
      PlayFixture.error(404, "NOT_FOUND"), Self.subscription("ACTIVE"),
    ])
    #expect(answer.withoutStandings == .response(CheckerResponse(.confirmed, environment: .production)))
    #expect(asked == ["productsv2", "subscriptionsv2"])
  }

  @Test("what Google Play does not know is refused; where it does not answer the verdict is open")
  func errors() async throws {
    for (status, expected) in [
      (404, "Google Play does not know the purchase (not-found (404, X, other): No.)."),
      (400, "Google Play does not know the purchase (invalid-request (400, X, other): No.)."),
      (410, "The purchase token is no longer valid: it expired long ago."),
    ] {
      let (answer, _) = try await Self.answer([PlayFixture.error(status, "X")])
      #expect(answer == Self.refused(expected, nil))
    }
    for (status, isRetryable) in [(401, false), (403, false), (409, true), (429, true), (500, true)] {
      let (answer, _) = try await Self.answer([PlayFixture.error(status, "X")])
      switch answer {
      case .retryableFailure: #expect(isRetryable)
      case .terminalFailure: #expect(!isRetryable)
      case .response: Issue.record("\(answer)")
      }
    }
  }

  @Test("a receipt without a token, or of another store, is not asked about")
  func notAskable() async throws {
    let (answer, asked) = try await Self.answer([Self.product()]) { $0.purchaseToken = nil }
    #expect(answer == .terminalFailure(message: "The purchase states no purchase token to ask about."))
    #expect(asked.isEmpty)
    let checker = GooglePlayChecker(client: try PlayFixture.client(PlayFixture.transport([Self.product()])))
    let foreign = await checker.check(try RemoteFixture.verified(.signedTransaction))
    #expect(
      foreign
        == .terminalFailure(message: "Google Play knows its own purchases, not a signed-transaction."))
  }

  @Test("the verdict of a refunded purchase is invalid, and of one that stands valid")
  func verdicts() async throws {
    let receipt = try TestReceipts().googlePlayPurchase()
    for (state, code) in [("PURCHASED", nil), ("CANCELLED", ReasonCode.revoked)] {
      let client = try PlayFixture.client(PlayFixture.transport([Self.product(state)]))
      let verdict = await (try RemoteFixture.verifier()).verify(
        receipt, checkers: [GooglePlayChecker(client: client)])
      switch verdict {
      case .valid(let receipt):
        #expect(code == nil)
        #expect(receipt.environment == .production)
      case .invalid(let receipt): #expect(receipt.reason.code == code)
      case .undetermined: Issue.record("\(verdict)")
      }
    }
  }
}
