// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import Entitlements
import FoundationEssentials
import GooglePlay
import GooglePlayEmulator
import ReceiptCodec
import ReceiptHTTP
import ReceiptVerification
import Storefront
import Synchronization
import Testing

/// GooglePlay and GooglePlayEmulator.
@Suite(.timeLimit(.minutes(10))) struct GooglePlayExamples {
  /// An app that sells coins, and who may ask about it.
  private struct World {
    let play: EmulatedPlay
    let keyFile: [UInt8]

    init() throws {
      let store = try EmulatedPlayStore(
        packageName: "com.example.app", signing: EmulatorSigning(), clock: EmulatorClock(rate: 0),
        clientClock: { SystemClock.now() },
        catalog: ProductCatalog(products: [
          CatalogProduct(productIdentifier: "coins", type: .consumable, price: 1)
        ]))
      let (account, keyFile) = try PlayServiceAccount.make(tokenURI: "https://oauth2.googleapis.com/token")
      self.keyFile = keyFile
      play = EmulatedPlay([store], accounts: [account], clock: { SystemClock.now() })
    }

    func control(_ name: String, _ json: String) async throws -> JSONValue {
      let response = await play.respond(
        to: EmulatorRequest("POST", target: "/_emulator/play/\(name)", body: Array(json.utf8)))
      return try JSONValue(parsing: response.body)
    }

    /// Buys coins.
    ///
    /// - Returns: The purchase token.
    func buy() async throws -> String {
      let bought = try await control("buy", #"{"account":"alice","productId":"coins"}"#)
      return try #require(bought["purchaseToken"]?.string)
    }
  }

  @Test func askingGooglePlay() async throws {
    let world = try World()
    let purchaseToken = try await world.buy()
    let (transport, contents) = (EmulatedPlayTransport(world.play), world.keyFile)
    var granted: [String] = []
    func grant(_ products: [String]) { granted += products }

    func ask() async throws {
      let client = GooglePlayClient(
        transport: transport, account: try ServiceAccount(keyFile: contents), packageName: "com.example.app")
      let now = SystemClock.now()
      let purchase = try await client.send(.product(purchaseToken))
      guard let id = PlayEntitlement.ID(packageName: "com.example.app", purchaseToken: purchaseToken) else {
        return
      }
      var ledger = EntitlementLedger()
      ledger.apply(purchase, to: id, asOf: now)
      if let entitlement = ledger[id], entitlement.standing(at: now).grantsAccess {
        grant(entitlement.productIds(at: now))
        try await client.send(
          .acknowledgeProduct(of: "coins", token: purchaseToken, with: ProductAcknowledgeRequest()))
      }
    }
    try await ask()

    #expect(granted == ["coins"])
    let client = GooglePlayClient(
      transport: transport, account: try ServiceAccount(keyFile: contents), packageName: "com.example.app")
    #expect(try await client.send(.product(purchaseToken)).acknowledgementState == .acknowledged)
  }

  @Test func answeringADispute() async throws {
    let world = try World()
    let client = GooglePlayClient(
      transport: EmulatedPlayTransport(world.play), account: try ServiceAccount(keyFile: world.keyFile),
      packageName: "com.example.app")
    let orderId = try #require(
      try await client.send(.product(try await world.buy())).orderId)
    let opened = try await world.control("chargeback", #"{"orderId":"\#(orderId)"}"#)
    let published = try #require(opened["messages"]?.array?.first?["notification"])
    let notification = try DeveloperNotification(
      json: published.encoded(), part: "notification", limits: .standard)
    func consumed(_ purchaseToken: String?) -> Int64 { purchaseToken == nil ? 0 : 45_200 }

    func answer() async throws {
      guard let review = notification.pendingRefundReviewNotification,
        let orderId = review.orderId, let token = review.pendingRefundToken
      else { return }
      let order = try await client.send(.order(orderId))
      var statement = ReviewRefundRequest(
        pendingRefundToken: token, refundPreference: .decline, sampleContentProvided: false)
      statement.consumptionPercentageMilliunits = consumed(order.purchaseToken)
      try await client.send(.reviewRefund(of: orderId, with: statement))
    }
    try await answer()

    let kept = await world.play.respond(
      to: EmulatorRequest("GET", target: "/_emulator/play/refund-review?orderId=\(orderId)"))
    let statement = try JSONValue(parsing: kept.body)["answer"]
    #expect(statement?["refundPreference"]?.string == "DECLINE")
    #expect(statement?["consumptionPercentageMilliunits"]?.int64 == 45_200)
  }

  @Test func receivingNotifications() async throws {
    let world = try World()
    let transport = EmulatedPlayTransport(world.play)
    let client = GooglePlayClient(
      transport: transport, account: try ServiceAccount(keyFile: world.keyFile),
      packageName: "com.example.app")
    let pushed = Mutex<[RemoteRequest]>([])
    world.play.pushNotifications(
      to: "https://example.com/play", email: "push@example.iam.gserviceaccount.com",
      over: AnsweringTransport { request throws(HTTPTransportError) in
        pushed.withLock { $0.append(request) }
        return RemoteResponse(status: 200)
      })
    let token = try await world.buy()
    let request = try #require(pushed.withLock { $0.first })
    let body = try #require(request.body)
    let genuine = request.headers.first { $0.name == "Authorization" }?.value

    var ledger = EntitlementLedger()
    var (recorded, statuses): (Set<String>, [Int]) = ([], [])
    func isRecorded(_ message: String) -> Bool { recorded.contains(message) }
    func store(_ ledger: EntitlementLedger, recording message: String) throws { recorded.insert(message) }
    func respond(_ status: Int) { statuses.append(status) }

    for authorization in [genuine, genuine, nil] {
      let receiver = DeveloperNotificationReceiver(
        verifier: PushTokenVerifier(
          audience: "https://example.com/play", email: "push@example.iam.gserviceaccount.com",
          transport: transport),
        client: client)
      do {
        let message = try await receiver.receive(authorization: authorization, body: body)
        if !isRecorded(message.messageId) {
          let update = try await receiver.update(for: message)
          ledger.merge(update.change)
          try store(ledger, recording: message.messageId)  // both in one commit
        }
        respond(DeveloperNotificationReceiver.acceptedHTTPStatus)
      } catch let rejection as PushRejection {
        respond(rejection.httpStatus)
      } catch {
        respond(503)  // Google Play did not answer: the message must come again.
      }
    }

    #expect(statuses == [200, 200, 401])
    #expect(ledger.playEntitlements.map(\.id.purchaseToken) == [token])
    #expect(ledger.playEntitlements.first?.grantsAccess(at: SystemClock.now()) == true)
  }

  @Test func theEmulatorInTheSameProcess() async throws {
    let clock = EmulatorClock(rate: 0)
    let store = try EmulatedPlayStore(
      packageName: "com.example.app", signing: EmulatorSigning(), clock: clock,
      clientClock: { SystemClock.now() })
    let (account, keyFile) = try PlayServiceAccount.make(tokenURI: "http://localhost/token")
    let play = EmulatedPlay([store], accounts: [account], clock: { SystemClock.now() })
    let client = GooglePlayClient(
      transport: EmulatedPlayTransport(play), account: try ServiceAccount(keyFile: keyFile),
      packageName: "com.example.app", address: GooglePlayAddress(at: try RemoteURL("http://localhost")))

    let error = await #expect(throws: GooglePlayError.self) {
      try await client.send(.product("a token of nobody"))
    }
    #expect(error?.code == .notFound || error?.code == .invalidRequest)
  }
}
