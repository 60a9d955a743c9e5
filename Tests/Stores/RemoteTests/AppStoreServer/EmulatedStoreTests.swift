// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import ReceiptCodec
import ReceiptCrypto
@testable import AppStoreServer
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// The clients against the emulated App Store, without sockets: requests that it understands, answers that verify.
@Suite struct EmulatedStoreTests {
  private let store: EmulatedAppStore
  private let client: AppStoreServerClient
  private let transport: FakeTransport

  init() async throws {
    try await self.init(environment: .sandbox)
  }

  private init(environment: ReceiptEnvironment) async throws {
    let signer = try StoreServer.signer()
    let key = DeveloperKey(
      keyId: signer.keyId, issuerId: signer.issuerId,
      publicKey: try TestAuthority.es256().identity.privateKey.publicKey)
    let configuration = EmulatedAppStore.Configuration(
      environment: environment, developerKeys: [key], clock: { StoreServer.now })
    let store = try EmulatedAppStore(configuration, signing: try EmulatorSigning())
    let seed = try EmulatorSeed(
      json: JSONValue(
        parsing: Array(
          #"{"sample":true,"histories":[{"count":45,"customer":"big","transaction":{"transactionId":"100000"}}],"#
            .utf8)
          + Array(
            #""groups":[{"groupId":"7","members":["704289572311513293","8","9"],"roles":[]}]}"#.utf8)),
      configuration: configuration)
    store.state.withState { $0.notificationURL = "https://example.com/notifications" }
    try await seed.apply(to: store)
    self.store = store
    transport = FakeTransport { request throws(HTTPTransportError) in
      let response = await store.respond(
        to: EmulatorRequest(
          request.method.rawValue, target: request.url.target, headers: request.headers,
          body: request.body ?? []))
      return RemoteResponse(status: response.status, headers: response.headers, body: response.body)
    }
    client = try StoreServer.client(
      transport, verifier: StoreServer.verifier { $0.environments = [environment.category ?? .sandbox] },
      address: environment == .sandbox ? .sandbox : .production)
  }

  private static let uuid = EndpointCall.uuid
  private static let original = "2000000001"

  @Test("transactions, app transaction, statuses")
  func reading() async throws {
    let transaction = try await client.send(.transaction(Self.original))
    #expect(transaction.payload.productId == SampleReceipts.productId)
    let app = try await client.send(.appTransaction(of: Self.original))
    #expect(app.payload.bundleId == SampleReceipts.bundleId)
    let subscriptions = try await client.send(.subscriptionStatuses(of: Self.original))
    #expect(subscriptions.map(\.status) == [.active])
    #expect(subscriptions.first?.purchase.renewalInfo?.payload.autoRenewStatus == .on)
    #expect(
      try await client.send(.subscriptionStatuses(of: Self.original, statuses: [.expired])).isEmpty)
  }

  @Test("a history in pages, both ways, and refunds")
  func histories() async throws {
    var identifiers: [String?] = []
    for try await transaction in client.pages(.transactionHistory(of: "100000")) {
      identifiers.append(transaction.payload.transactionId)
    }
    #expect(identifiers.count == 45)
    #expect(Set(identifiers).count == 45)
    #expect(transport.requests.count == 3)
    var reversed: [String?] = []
    let descending = TransactionHistoryFilter().with {
      $0.sort = .descending
    }
    for try await transaction in client.pages(.transactionHistory(of: "100000", filter: descending)) {
      reversed.append(transaction.payload.transactionId)
    }
    #expect(reversed == identifiers.reversed())

    try await store.purchases.amend("100003") { $0.revocationDate = StoreServer.now }
    var refunded: [String?] = []
    for try await transaction in client.pages(.refundHistory(of: "100000")) {
      refunded.append(transaction.payload.transactionId)
    }
    #expect(refunded == ["100003"])
    #expect(try await client.send(.refundHistoryV1(of: "100000")).count == 1)
  }

  @Test("orders are looked up in production")
  func orders() async throws {
    let production = try await EmulatedStoreTests(environment: .production).client
    let order = try await production.send(.orderLookup("W000001"))
    #expect(order?.map(\.payload.transactionId) == [Self.original])
    #expect(try await production.send(.orderLookup("W999999")) == nil)
  }

  @Test("extensions of one and of many")
  func extensions() async throws {
    let one = try await client.send(
      .extendRenewalDate(
        of: Self.original,
        ExtendRenewalDateRequest(extendByDays: 3, extendReasonCode: .serviceOutage, requestIdentifier: "mine")
      ))
    #expect(one.success == true)
    let many = MassExtendRenewalDateRequest(
      requestIdentifier: Self.uuid, extendByDays: 1, extendReasonCode: .customerSatisfaction,
      productId: SampleReceipts.productId)
    #expect(
      try await client.send(.massExtendRenewalDate(many)).requestIdentifier?.canonical == Self.uuid.canonical)
    let status = try await client.send(
      .massExtendRenewalDateStatus(
        productId: SampleReceipts.productId, requestIdentifier: Self.uuid))
    #expect(status.requestIdentifier?.canonical == Self.uuid.canonical)
  }

  @Test("consumption information about a purchase")
  func purchases() async throws {
    try await client.send(
      .sendConsumption(
        ConsumptionRequest(customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: false),
        of: Self.original))
    try await client.send(
      .sendConsumptionV1(
        ConsumptionRequestV1().with {
          $0.customerConsented = true
          $0.sampleContentProvided = true
          $0.accountTenure = .over365Days
          $0.lifetimeDollarsPurchased = .over2000
        }, of: Self.original))
    try await client.send(.setAppAccountToken(Self.uuid, of: Self.original))
    #expect(
      try await client.send(.transaction(Self.original)).payload.appAccountToken?.canonical
        == Self.uuid.canonical)
    try await client.send(.finish(Self.original))
  }

  @Test("test notification and history")
  func notifications() async throws {
    let token = try await client.send(.requestTestNotification()).testNotificationToken
    let sent = try await client.send(.testNotificationStatus(try #require(token)))
    #expect(sent.notification.payload.notificationType == .test)
    let request = NotificationHistoryRequest(
      startDate: StoreServer.now.addingSeconds(-3600), endDate: StoreServer.now.addingSeconds(3600))
    var found = 0
    for try await notification in client.pages(.notificationHistory(request)) {
      found += 1
      #expect(notification.notification.payload.notificationUUID != nil)
    }
    #expect(found >= 1)
  }

  @Test("retention messaging")
  func retentionMessaging() async throws {
    try await client.send(.uploadImage(EndpointCall.png, identifier: Self.uuid, size: .fullSize))
    #expect(
      try await client.send(.images()).imageIdentifiers?.first?.imageIdentifier?.canonical
        == Self.uuid.canonical)
    try await client.send(
      .uploadMessage(
        RetentionMessage(header: "Stay", body: "A month for nothing.").with {
          $0.image = RetentionMessageImage(imageIdentifier: Self.uuid, altText: "A gift")
        }, identifier: Self.uuid))
    #expect(try await client.send(.messages()).messageIdentifiers?.count == 1)
    try await client.send(
      .setDefaultMessage(Self.uuid, forProduct: SampleReceipts.productId, locale: "en-US"))
    let message = try await client.send(
      .defaultMessage(forProduct: SampleReceipts.productId, locale: "en-US"))
    #expect(message.messageIdentifier.canonical == Self.uuid.canonical)
    try await client.send(.deleteDefaultMessage(forProduct: SampleReceipts.productId, locale: "en-US"))
    try await client.send(.deleteMessage(Self.uuid))
    try await client.send(.deleteImage(Self.uuid))
    let test = try await client.send(.startPerformanceTest(of: Self.original))
    let result = try await client.send(.performanceTestResult(try #require(test.requestId)))
    #expect(result.result != nil)
    try await client.send(.setRealtimeURL("https://example.com/realtime"))
    #expect(try await client.send(.realtimeURL()).realtimeURL == "https://example.com/realtime")
    try await client.send(.deleteRealtimeURL())
    let gone = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.realtimeURL())
    }
    #expect(gone?.code == .realtimeURLNotFound)
  }

  @Test("groups and their members")
  func groups() async throws {
    _ = try await client.send(.currentGroups(of: Self.original))
    var members: [String?] = []
    for try await member in client.pages(.groupMembers(of: "7", limit: 2)) {
      members.append(member.appTransactionId)
    }
    #expect(members == ["704289572311513293", "8", "9"])
  }

  @Test("Advanced Commerce")
  func advancedCommerce() async throws {
    let info = AdvancedCommerceRequestInfo(requestReferenceId: Self.uuid)
    let cancelled = try await client.send(
      .cancelSubscription(
        Self.original, AdvancedCommerceSubscriptionCancelRequest(requestInfo: info)))
    #expect(cancelled.transaction.payload.originalTransactionId == Self.original)
    let changed = try await client.send(
      .changeSubscriptionPrice(
        Self.original,
        AdvancedCommercePriceChangeRequest(
          requestInfo: info, items: [AdvancedCommercePriceChangeItem(sku: "s", price: 1990)])))
    #expect(changed.renewalInfo != nil)
  }

  @Test("every endpoint has the emulator's path", arguments: EndpointCall.all)
  func routes(call: EndpointCall) async throws {
    let response = await store.respond(
      to: EmulatorRequest(call.method.rawValue, target: call.target, body: call.body ?? []))
    // Without a token, and not "no such resource" or "no such method".
    #expect(response.status == 401)
  }

  @Test("refusals are typed")
  func refusals() async throws {
    let unknown = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("404"))
    }
    #expect(unknown?.code == .transactionIdNotFound)
    let malformed = await storeError { () async throws(AppStoreServerError) in
      try await client.send(.transaction("x"))
    }
    #expect(malformed?.code == .invalidTransactionId)
    let stranger = AppStoreServerClient(
      raw: RawAppStoreServerClient(
        transport: transport, signer: try StoreServer.signer(bundleId: "com.example.other"),
        address: .sandbox, time: ManualTime(StoreServer.now).remoteTime))
    let unauthorized = await storeError { () async throws(AppStoreServerError) in
      try await stranger.send(.transaction(Self.original))
    }
    guard case .unauthorized = unauthorized?.cause else {
      Issue.record("\(String(describing: unauthorized))")
      return
    }
  }
}
