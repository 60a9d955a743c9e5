// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import Entitlements
import GooglePlay
import GooglePlayEmulator
import ReceiptCodec
import ReceiptHTTP
import ReceiptVerification
import Storefront
import Synchronization
import Testing

/// Our own client, receiver and ledger against the emulated Google Play, in one process.
@Suite struct PlayEmulatorTests {
  static let monthly = "com.example.app.monthly"
  static let yearly = "com.example.app.yearly"
  static let coins = "com.example.app.coins"

  /// The developer's server: what a push tells is asked about and folded into the ledger.
  final class Backend: HTTPTransport {
    private let receiver = Mutex<DeveloperNotificationReceiver?>(nil)
    private let state = Mutex((ledger: EntitlementLedger(), rejections: [String]()))

    var ledger: EntitlementLedger { state.withLock { $0.ledger } }
    var rejections: [String] { state.withLock { $0.rejections } }

    func use(_ receiver: DeveloperNotificationReceiver) { self.receiver.withLock { $0 = receiver } }

    func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
      guard let receiver = receiver.withLock({ $0 }) else {
        throw HTTPTransportError(.cannotConnect, "There is no receiver yet.")
      }
      let authorization = request.headers.first { $0.name == "Authorization" }?.value
      do {
        let message = try await receiver.receive(authorization: authorization, body: request.body ?? [])
        let update = try await receiver.update(for: message)
        state.withLock { $0.ledger.merge(update.change) }
        return RemoteResponse(status: DeveloperNotificationReceiver.acceptedHTTPStatus)
      } catch let rejection as PushRejection {
        state.withLock { $0.rejections.append(rejection.description) }
        return RemoteResponse(status: rejection.httpStatus)
      } catch {
        return RemoteResponse(status: 500)
      }
    }
  }

  struct World {
    let play: EmulatedPlay
    let clock: EmulatorClock
    let client: GooglePlayClient
    let backend = Backend()

    init() async throws {
      clock = EmulatorClock(rate: 0)
      var options = LocalStore.Options(bundleIdentifier: "")
      options.engine.gracePeriodDays = 7
      let store = try EmulatedPlayStore(
        packageName: PlayFixture.packageName, signing: EmulatorSigning(), clock: clock,
        clientClock: { SystemClock.now() }, options: options)
      let (account, keyFile) = try PlayServiceAccount.make(tokenURI: "http://localhost/token")
      play = EmulatedPlay([store], accounts: [account], clock: { SystemClock.now() })
      let transport = EmulatedPlayTransport(play)
      client = GooglePlayClient(
        transport: transport, account: try ServiceAccount(keyFile: keyFile),
        packageName: PlayFixture.packageName,
        address: GooglePlayAddress(at: try RemoteURL("http://localhost")))
      let verifier = PushTokenVerifier(
        audience: "http://localhost/push", email: PlayFixture.pushEmail, transport: transport,
        keys: try RemoteURL("http://localhost/oauth2/v3/certs"))
      backend.use(DeveloperNotificationReceiver(verifier: verifier, client: client))
      play.pushNotifications(
        to: "http://localhost/push", email: PlayFixture.pushEmail, over: backend)
    }

    @discardableResult
    func control(_ name: String, _ json: String) async throws -> JSONValue {
      let response = await play.respond(
        to: EmulatorRequest("POST", target: "/_emulator/play/\(name)", body: Array(json.utf8)))
      try #require(response.status == 200, "\(name): \(String(decoding: response.body, as: UTF8.self))")
      return try JSONValue(parsing: response.body)
    }

    /// The types of the notifications of subscriptions that a control caused.
    func types(_ name: String, _ json: String) async throws -> [Int64] {
      try await control(name, json)["messages"]?.array?.compactMap {
        $0["notification"]?["subscriptionNotification"]?["notificationType"]?.int64
      } ?? []
    }

    func buy(
      _ product: String, account: String = "alice"
    ) async throws -> (token: String, order: String) {
      let answer = try await control("buy", #"{"account":"\#(account)","productId":"\#(product)"}"#)
      return (try #require(answer["purchaseToken"]?.string), try #require(answer["orderId"]?.string))
    }

    /// The state of a purchase as the ledger has it.
    func state(_ token: String) -> PlayEntitlement.State? {
      PlayEntitlement.ID(packageName: PlayFixture.packageName, purchaseToken: token)
        .flatMap { backend.ledger[$0] }?.state(at: clock.now)
    }
  }

  @Test func theLedgerFollowsALifeThroughThePushes() async throws {
    let world = try await World()
    let (token, _) = try await world.buy(Self.monthly)
    #expect(world.state(token) == .active)
    try await world.client.send(
      .acknowledgeSubscription(of: Self.monthly, token: token, with: SubscriptionAcknowledgeRequest()))
    try await world.control("advance", #"{"by":"P1M"}"#)
    try await world.control("advance", #"{"by":60}"#)
    #expect(world.state(token) == .active)
    try await world.control("billing", #"{"account":"alice","fails":true}"#)
    try await world.control("advance", #"{"by":"P1M"}"#)
    #expect(world.state(token) == .inGracePeriod)
    try await world.control("advance", #"{"by":"P1W"}"#)
    #expect(world.state(token) == .onHold)
    try await world.control("billing", #"{"account":"alice","fails":false}"#)
    try await world.control("advance", #"{"by":"P1D"}"#)
    #expect(world.state(token) == .active)
    // An upgrade replaces the purchase; a refund takes back what replaced it.
    let (upgraded, order) = try await world.buy(Self.yearly)
    #expect(world.state(upgraded) == .active)
    #expect(world.state(token) == .replaced)
    try await world.control("refund", #"{"orderId":"\#(order)"}"#)
    #expect(world.state(upgraded) == .refunded)
    #expect(world.backend.rejections == [])
  }

  @Test func whatIsCancelledLastsUntilItExpires() async throws {
    let world = try await World()
    let (token, _) = try await world.buy(Self.monthly)
    try await world.client.send(
      .acknowledgeSubscription(of: Self.monthly, token: token, with: SubscriptionAcknowledgeRequest()))
    try await world.control("cancel", #"{"purchaseToken":"\#(token)"}"#)
    #expect(world.state(token) == .active)
    let answer = try await world.client.send(.subscription(token))
    #expect(answer.subscriptionState == .canceled)
    #expect(answer.canceledStateContext?.userInitiatedCancellation?.cancelTime != nil)
    try await world.control("advance", #"{"by":"P2M"}"#)
    #expect(world.state(token) == .expired)
  }

  @Test func aPauseSuspendsAccessUntilItEnds() async throws {
    let world = try await World()
    let (token, order) = try await world.buy(Self.monthly)
    try await world.client.send(
      .acknowledgeSubscription(of: Self.monthly, token: token, with: SubscriptionAcknowledgeRequest()))
    let end = try #require(
      try await world.client.send(.subscription(token)).lineItems?.first?.expiryTime)
    #expect(try await world.types("pause", #"{"purchaseToken":"\#(token)","days":14}"#) == [11])
    #expect(world.state(token) == .active)
    #expect(try await world.types("advance", #"{"by":"P1M"}"#) == [10])
    #expect(world.state(token) == .paused)
    let paused = try await world.client.send(.subscription(token))
    #expect(paused.subscriptionState == .paused)
    #expect(paused.pausedStateContext?.autoResumeTime == end.addingSeconds(14 * 86_400))
    #expect(paused.lineItems?.first?.expiryTime == end)
    #expect(try await world.types("advance", #"{"by":"P2W"}"#) == [1])
    #expect(world.state(token) == .active)
    let resumed = try await world.client.send(.subscription(token))
    #expect(resumed.pausedStateContext == nil)
    #expect(resumed.lineItems?.first?.latestSuccessfulOrderId == "\(order)..0")
  }

  @Test func aPauseIsCalledOffEndedEarlyOrCancelled() async throws {
    let world = try await World()
    let (token, _) = try await world.buy(Self.monthly)
    try await world.client.send(
      .acknowledgeSubscription(of: Self.monthly, token: token, with: SubscriptionAcknowledgeRequest()))
    let purchase = #"{"purchaseToken":"\#(token)"}"#
    #expect(try await world.types("pause", purchase) == [11])
    #expect(try await world.types("resume", purchase) == [11])
    #expect(try await world.types("advance", #"{"by":"P1M"}"#) == [2])

    #expect(try await world.types("pause", purchase) == [11])
    #expect(try await world.types("advance", #"{"by":"P1M"}"#) == [10])
    #expect(try await world.types("resume", purchase) == [1])
    #expect(world.state(token) == .active)

    // One who cancels keeps what was paid for, and takes no pause.
    #expect(try await world.types("pause", purchase) == [11])
    #expect(try await world.types("cancel", purchase) == [3])
    #expect(world.state(token) == .active)
    #expect(try await world.types("advance", #"{"by":"P5W"}"#) == [13])
    #expect(world.state(token) == .expired)
  }

  @Test func aFailedChargeAtTheEndOfAPauseBeginsTheGracePeriod() async throws {
    let world = try await World()
    let (token, _) = try await world.buy(Self.monthly)
    try await world.client.send(
      .acknowledgeSubscription(of: Self.monthly, token: token, with: SubscriptionAcknowledgeRequest()))
    try await world.control("pause", #"{"purchaseToken":"\#(token)","days":7}"#)
    try await world.control("billing", #"{"account":"alice","fails":true}"#)
    #expect(try await world.types("advance", #"{"by":"P1M"}"#) == [10])
    #expect(try await world.types("advance", #"{"by":"P1W"}"#) == [6])
    #expect(world.state(token) == .inGracePeriod)
  }

  @Test func aRefundOfASubscriptionLeavesItAndARevocationEndsIt() async throws {
    let world = try await World()
    let (token, order) = try await world.buy(Self.monthly)
    try await world.client.send(
      .acknowledgeSubscription(of: Self.monthly, token: token, with: SubscriptionAcknowledgeRequest()))
    try await world.client.send(.refundSubscription(of: Self.monthly, token: token))
    try await world.control("advance", #"{"by":"P1M"}"#)
    #expect(world.state(token) == .active)
    let error = await playError { () async throws(GooglePlayError) in
      try await world.client.send(.revokeSubscriptionV1(of: Self.yearly, token: token))
    }
    #expect(error?.code == .invalidRequest)
    try await world.client.send(.revokeSubscriptionV1(of: Self.monthly, token: token))
    try await world.control("advance", #"{"by":0}"#)
    #expect(world.state(token) == .refunded)
    let listed = try await world.client.send(
      .voidedPurchases(query: VoidedPurchasesQuery().with { $0.type = .oneTimeAndSubscriptions }))
    #expect(listed.voidedPurchases?.map(\.orderId) == ["\(order)..0"])
  }

  @Test func aDeferralNeedsThePresentTagAndMovesTheExpiry() async throws {
    let world = try await World()
    let (token, _) = try await world.buy(Self.monthly)
    let before = try await world.client.send(.subscription(token))
    let tag = try #require(before.etag)
    let expiry = try #require(before.lineItems?.first?.expiryTime)
    var trial = PlayRequests.deferral(days: 7, tag)
    trial.deferralContext.validateOnly = true
    let dry = try await world.client.send(.deferSubscription(token, with: trial))
    #expect(dry.itemExpiryTimeDetails?.map(\.expiryTime) == [expiry.addingSeconds(7 * 86_400)])
    #expect(try await world.client.send(.subscription(token)) == before)
    let answer = try await world.client.send(
      .deferSubscription(token, with: PlayRequests.deferral(days: 7, tag)))
    #expect(answer == dry)
    let after = try await world.client.send(.subscription(token))
    #expect(after.lineItems?.first?.expiryTime == expiry.addingSeconds(7 * 86_400))
    #expect(after.etag != tag)
    // The request again, as after a lost answer, moves it no further.
    let error = await playError { () async throws(GooglePlayError) in
      try await world.client.send(.deferSubscription(token, with: PlayRequests.deferral(days: 7, tag)))
    }
    #expect(error?.code == .invalidRequest)
    #expect(error?.isRetryable == false)
    #expect(try await world.client.send(.subscription(token)) == after)

    let present = expiry.addingSeconds(7 * 86_400).millisecondsSince1970
    let older = try await world.client.send(
      .deferSubscriptionV1(
        of: Self.monthly, token: token,
        with: PlayRequests.deferral(from: present, to: present + 86_400_000)))
    #expect(older.newExpiryTime == expiry.addingSeconds(8 * 86_400))
    #expect(try await world.types("advance", #"{"by":0}"#) == [])
  }

  @Test func aCancellationSaysByWhomItWas() async throws {
    let world = try await World()
    let cancellations: [(GooglePlayClient, String) async throws -> Void] = [
      { _ = try await $0.send(.cancelSubscription($1, with: PlayRequests.cancel(.userStopsRenewals))) },
      { _ = try await $0.send(.cancelSubscription($1, with: PlayRequests.cancel(.developerStopsPayments))) },
      { try await $0.send(.cancelSubscriptionV1(of: Self.monthly, token: $1)) },
    ]
    for (number, cancel) in cancellations.enumerated() {
      let (token, _) = try await world.buy(Self.monthly, account: "customer-\(number)")
      try await cancel(world.client, token)
      let answer = try await world.client.send(.subscription(token))
      #expect(answer.subscriptionState == .canceled)
      #expect((answer.canceledStateContext?.userInitiatedCancellation != nil) == (number == 0))
      #expect((answer.canceledStateContext?.developerInitiatedCancellation != nil) == (number != 0))
      #expect(world.state(token) == .active)
    }
  }

  @Test func theFirstStatementAboutADisputedOrderCounts() async throws {
    let world = try await World()
    let coins = try await world.buy(Self.coins)
    let opened = try await world.control("chargeback", #"{"orderId":"\#(coins.order)"}"#)
    let token = try #require(opened["pendingRefundToken"]?.string)
    let message = opened["messages"]?.array?.last?["notification"]
    let notification = try DeveloperNotification(
      json: try #require(message).encoded(), part: "notification", limits: .standard)
    #expect(notification.pendingRefundReviewNotification?.pendingRefundToken == token)
    #expect(notification.pendingRefundReviewNotification?.orderId == coins.order)
    #expect(notification.pendingRefundReviewNotification?.refundReason == .chargeback)
    #expect(world.backend.rejections == [])
    #expect(try await world.client.send(.order(coins.order)).state == .pendingRefund)
    // While it is open it takes nothing away.
    #expect(world.state(coins.token) == .active)
    try await world.client.send(.reviewRefund(of: coins.order, with: PlayRequests.statement(token)))
    let other = PlayRequests.statement(token) { $0.refundPreference = .approve }
    try await world.client.send(.reviewRefund(of: coins.order, with: other))
    let kept = await world.play.respond(
      to: EmulatorRequest("GET", target: "/_emulator/play/refund-review?orderId=\(coins.order)"))
    #expect(
      try JSONValue(parsing: kept.body)["answer"]
        == JSONValue(parsing: PlayRequests.statement(token).encodedJSON()))
    try await world.control("decide-refund", #"{"orderId":"\#(coins.order)","isRefunded":true}"#)
    #expect(world.state(coins.token) == .refunded)
    let order = try await world.client.send(.order(coins.order))
    #expect(order.state == .refunded)
    #expect(order.orderHistory?.refundEvent?.refundReason == .chargeback)
  }

  @Test func ordersComeTogetherOrNotAtAll() async throws {
    let world = try await World()
    var orders: [String] = []
    for _ in 0..<80 { orders.append(try await world.buy(Self.coins).order) }
    let answer = try await world.client.send(.orders(orders))
    #expect(answer.orders?.map(\.orderId) == orders)
    let error = await playError { () async throws(GooglePlayError) in
      try await world.client.send(.orders(orders + ["GPA.0000-0000-0000-00000"]))
    }
    #expect(error?.code == .notFound)
  }

  @Test func anExternalTransactionIsReportedOnceAndRefunded() async throws {
    let world = try await World()
    let made = try await world.client.send(
      .createExternalTransaction("x-1", with: PlayRequests.externalTransaction()))
    #expect(made.transactionState == .reported)
    #expect(try await world.client.send(.externalTransaction("x-1")) == made)
    let error = await playError { () async throws(GooglePlayError) in
      try await world.client.send(
        .createExternalTransaction("x-1", with: PlayRequests.externalTransaction()))
    }
    #expect(error?.code == .alreadyExists)
    #expect(error?.attempts == 1)
    #expect(error?.isRetryable == false)
    let next = try await world.client.send(
      .createExternalTransaction(
        "x-2", with: PlayRequests.recurring { $0.externalTransactionToken = "token" }))
    #expect(next.recurringTransaction?.externalTransactionToken == nil)
    let part = try await world.client.send(
      .refundExternalTransaction("x-1", with: PlayRequests.partialRefund("r", PlayRequests.price(4_995_000))))
    #expect(part.currentPreTaxAmount?.priceMicros == 4_995_000)
    #expect(part.currentTaxAmount?.priceMicros == 500_000)
    let whole = try await world.client.send(
      .refundExternalTransaction("x-1", with: PlayRequests.fullRefund))
    #expect(whole.transactionState == .canceled)
    #expect(whole.currentPreTaxAmount?.priceMicros == 0)
    // Amounts of any size are divided without overflow.
    let great = PlayRequests.externalTransaction {
      $0.originalPreTaxAmount = PlayRequests.price(.max)
      $0.originalTaxAmount = PlayRequests.price(.max)
    }
    _ = try await world.client.send(.createExternalTransaction("great", with: great))
    let rest = try await world.client.send(
      .refundExternalTransaction("great", with: PlayRequests.partialRefund("r", PlayRequests.price(7))))
    #expect(rest.currentTaxAmount?.priceMicros == Int64.max - 7)
  }

  @Test func theCatalogueIsReadToItsEnd() async throws {
    let world = try await World()
    var found: [String?] = []
    for try await each in world.client.catalogSubscriptions() {
      found.append(each.productId)
      #expect(each.basePlans?.first?.regionalConfigs?.first?.price?.currencyCode == "USD")
    }
    #expect(found == [Self.monthly, Self.yearly])
    found = []
    for try await each in world.client.catalogOffers() { found.append(each.offerId) }
    #expect(found == ["come-back", "gift", "come-back", "gift"])
    found = []
    for try await each in world.client.catalogProducts() { found.append(each.productId) }
    #expect(found.first == Self.coins)
    let product = try await world.client.send(.catalogProduct(Self.coins))
    #expect(product.purchaseOptions?.first?.buyOption?.multiQuantityEnabled == true)
  }

  @Test func everyOtherCallIsAnswered() async throws {
    let world = try await World()
    let coins = try await world.buy(Self.coins)
    #expect(try await world.client.send(.product(coins.token)).orderId == coins.order)
    try await world.client.send(
      .acknowledgeProduct(of: Self.coins, token: coins.token, with: ProductAcknowledgeRequest()))
    #expect(try await world.client.send(.product(coins.token)).acknowledgementState == .acknowledged)
    try await world.client.send(.refundOrder(coins.order, revokesAccess: true))
    let first = try await world.buy(Self.monthly)
    let request = RevokeSubscriptionRequest(
      revocationContext: PlayRevocationContext().with { $0.proratedRefund = EmptyObject() })
    _ = try await world.client.send(.revokeSubscription(first.token, with: request))
    let query = VoidedPurchasesQuery().with {
      $0.type = .oneTimeAndSubscriptions
      $0.maxResults = 1
    }
    var orders: [String?] = []
    for try await voided in world.client.voidedPurchases(query) { orders.append(voided.orderId) }
    #expect(orders == [coins.order, first.order])
  }

  @Test func aOneTimePurchaseIsConsumedOrTakenBack() async throws {
    let world = try await World()
    let kept = try await world.buy(Self.coins)
    let lost = try await world.buy(Self.coins)
    try await world.client.send(.consumeProduct(of: Self.coins, token: kept.token))
    let consumed = try await world.client.send(.productV1(of: Self.coins, token: kept.token))
    #expect(consumed.consumptionState == .consumed)
    try await world.control("advance", #"{"by":"P3D"}"#)
    try await world.control("advance", #"{"by":1}"#)
    #expect(world.state(kept.token) == .active)
    #expect(world.state(lost.token) == .refunded)
    let listed = try await world.client.send(.voidedPurchases())
    #expect(listed.voidedPurchases?.map(\.orderId) == [lost.order])
    #expect(listed.voidedPurchases?.first?.voidedReason == .unacknowledged)
  }

  @Test func theReceiverRefusesEachAlteredToken() async throws {
    let world = try await World()
    let faults = await world.play.respond(to: EmulatorRequest("GET", target: "/_emulator/play/token-faults"))
    let names = try #require(try JSONValue(parsing: faults.body)["faults"]?.array).compactMap(\.string)
    #expect(names.count >= 20)
    for (number, name) in names.enumerated() {
      let answer = try await world.control("forge", #"{"fault":"\#(name)"}"#)
      #expect(answer["status"]?.int64 == 401, "\(name)")
      #expect(world.backend.rejections.count == number + 1, "\(name)")
    }
    let genuine = try await world.control("forge", "{}")
    #expect(genuine["status"]?.int64 == 200)
  }
}
