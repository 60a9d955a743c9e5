// SPDX-License-Identifier: Apache-2.0

import Entitlements
import GooglePlay
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import RemoteChecks

extension ConformanceAnswer {
  /// The entitlements that follow from answers of Google's API and notifications, in the order of their arrival.
  init(foldingPlay asked: ConformanceCase) async throws {
    var ledger = EntitlementLedger()
    for answer in try asked.playAnswers { ledger.merge(try await answer.facts()) }
    let entitlements = ledger.playEntitlements
    let time = asked.time
    self.init(
      verdict: "valid",
      values: .members(
        ("entitlements", .array(entitlements.map { Self.entitlement($0, at: time) })),
        (
          "items",
          .array(entitlements.flatMap { each in each.items.map { Self.item($0, of: each, at: time) } })
        ),
        (
          "access",
          .array(entitlements.filter { $0.grantsAccess(at: time) }.map { Self.access($0, at: time) })
        ),
        ("changes", .array(entitlements.map { Self.change($0, at: time) }))))
  }

  private static func entitlement(_ entitlement: PlayEntitlement, at time: Timestamp) -> JSONValue {
    .members(
      ("packageName", .string(entitlement.id.packageName)),
      ("purchaseToken", .string(entitlement.id.purchaseToken)),
      ("state", .string(entitlement.state(at: time).rawValue)),
      ("accountId", entitlement.obfuscatedAccountId.map { .string($0) }))
  }

  private static func item(
    _ item: PlayEntitlement.Item, of entitlement: PlayEntitlement, at time: Timestamp
  ) -> JSONValue {
    .members(
      ("purchaseToken", .string(entitlement.id.purchaseToken)),
      ("productId", item.productId.map { .string($0) }),
      ("state", .string(entitlement.state(of: item, at: time).rawValue)),
      ("quantity", .integer(entitlement.remainingQuantity(of: item, at: time))),
      ("orderId", item.orderId.map { .string($0) }),
      ("expiresDate", item.expiryTime.map { .string($0.iso8601) }),
      ("revocationDate", item.voided.map { .string($0.date.iso8601) }))
  }

  private static func access(_ entitlement: PlayEntitlement, at time: Timestamp) -> JSONValue {
    .members(
      ("purchaseToken", .string(entitlement.id.purchaseToken)),
      ("productIds", .array(entitlement.productIds(at: time).sorted().map { .string($0) })),
      ("orderId", entitlement.orderId(at: time).map { .string($0) }),
      ("expiresDate", entitlement.expiresDate(at: time).map { .string($0.iso8601) }))
  }

  private static func change(_ entitlement: PlayEntitlement, at time: Timestamp) -> JSONValue {
    .members(
      ("purchaseToken", .string(entitlement.id.purchaseToken)),
      ("since", entitlement.standing(at: time).since.map { .string($0.iso8601) }),
      ("until", entitlement.nextChange(after: time).map { .string($0.iso8601) }))
  }

  /// The verdict on a signed purchase after Google's API was asked about it.
  init(askingPlay asked: ConformanceCase, by verifier: ReceiptVerifier) async throws {
    let requirements = PurchaseRequirements(
      requiresCurrentSubscription: asked.statedPolicy["requireCurrent"] == .bool(true))
    let client = try PlayAnswerTransport(answers: asked.playAnswers).client(at: asked.time)
    let result = await verifier.verify(
      try asked.bytes("receipt"), checkers: [GooglePlayChecker(client: client, requirements: requirements)])
    self.init(result, at: asked.time)
    guard case .valid(let receipt) = result, let members = values?.object else { return }
    let remaining = receipt.purchases.map { purchase in
      JSONValue.members(
        ("productId", purchase.transaction.productId.map { .string($0) }),
        ("quantity", .integer(purchase.remainingQuantity(at: asked.time))))
    }
    values = .object(members + [JSONMember(name: "remaining", value: .array(remaining))])
  }
}

extension ConformanceCase {
  fileprivate var playAnswers: [PlayAnswer] {
    get throws { try (input["answers"]?.array ?? []).map { try PlayAnswer($0) } }
  }
}

/// An answer of Google's API, or a notification, as a case states it.
private struct PlayAnswer {
  let method: String
  let packageName: String?
  let token: String?
  let date: Timestamp?
  let status: Int
  let body: JSONValue

  init(_ value: JSONValue) throws {
    method = try value.text("method")
    packageName = value["packageName"]?.string ?? value["body"]?["packageName"]?.string
    token = value["token"]?.string
    date = try value["date"]?.string.map { try Timestamp(iso8601: $0) }
    status = value["status"]?.int64.map { Int($0) } ?? 200
    body = value["body"] ?? .object([])
  }

  /// The facts that follow from it; none if Google did not answer.
  func facts() async throws -> EntitlementLedger {
    var facts = EntitlementLedger()
    guard let packageName, let date else { throw MalformedReceipt.missing("packageName") }
    if method == "rtdn" {
      let json = body.encoded()
      let notification = try DeveloperNotification(json: json, part: "notification", limits: .standard)
      let message = DeveloperMessage(
        messageId: date.iso8601, publishTime: date, packageName: packageName, notification: notification,
        json: json)
      if let id = message.purchase { facts.apply(message, to: id, at: date) }
      return facts
    }
    let client = try PlayAnswerTransport(answers: [self]).client(at: date, of: packageName)
    if method == "purchases.voidedpurchases.list" {
      guard let page = try? await client.send(.voidedPurchases()) else { return facts }
      for voided in page.voidedPurchases ?? [] { facts.apply(voided, packageName: packageName) }
      return facts
    }
    guard let token, let id = PlayEntitlement.ID(packageName: packageName, purchaseToken: token) else {
      throw MalformedReceipt.missing("token")
    }
    let isSubscription = method == "purchases.subscriptionsv2.get"
    return (try? await client.answer(about: id, isSubscription: isSubscription).facts) ?? facts
  }

  /// The path of the request that it answers, without the app.
  var path: String {
    switch method {
    case "purchases.subscriptionsv2.get": "/purchases/subscriptionsv2/tokens/\(token ?? "")"
    case "purchases.productsv2.getproductpurchasev2": "/purchases/productsv2/tokens/\(token ?? "")"
    default: "/purchases/voidedpurchases"
    }
  }
}

/// Answers the requests of a client as a case says. Google knows nothing else.
private struct PlayAnswerTransport: HTTPTransport {
  let answers: [PlayAnswer]

  private static let account = Result {
    let account = JSONValue.members(
      ("type", .string("service_account")), ("private_key_id", .string("1")),
      ("client_email", .string("conformance@example.iam.gserviceaccount.com")),
      ("token_uri", .string("https://oauth2.googleapis.com/token")),
      ("private_key", .string(try PrivateKey.generateRSA().pkcs8PEM())))
    return try ServiceAccount(keyFile: account.encoded())
  }

  func client(at date: Timestamp, of packageName: String = "") throws -> GooglePlayClient {
    GooglePlayClient(
      transport: self, account: try Self.account.get(), packageName: packageName,
      retry: .once(within: .seconds(5)),
      time: RemoteTime(now: { date }, elapsed: { .zero }, sleep: { _ in }, random: { 0 }))
  }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    if request.url.path == "/token" {
      let token = JSONValue.members(
        ("access_token", .string("token")), ("token_type", .string("Bearer")), ("expires_in", .integer(3599)))
      return RemoteResponse(status: 200, body: token.encoded())
    }
    let prefix = "/androidpublisher/v3/applications/"
    let answer = answers.first { request.url.path == prefix + ($0.packageName ?? "") + $0.path }
    return RemoteResponse(status: answer?.status ?? 404, body: (answer?.body ?? .object([])).encoded())
  }
}
