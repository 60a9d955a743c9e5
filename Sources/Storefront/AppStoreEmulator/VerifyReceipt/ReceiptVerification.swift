// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning
internal import ReceiptVerification
internal import Storefront

/// The answer of `verifyReceipt` to one app receipt.
struct ReceiptVerification {
  /// The documented values of `status`.
  private enum Status {
    static let unreadableRequest: Int64 = 21_000
    static let malformedReceipt: Int64 = 21_002
    static let notAuthenticated: Int64 = 21_003
    static let wrongSharedSecret: Int64 = 21_004
    static let sandboxReceipt: Int64 = 21_007
    static let productionReceipt: Int64 = 21_008
  }

  private let call: EndpointCall

  init(_ call: EndpointCall) { self.call = call }

  func answer() async -> JSONValue {
    guard let request = try? call.body() else { return status(Status.unreadableRequest) }
    guard let text = request["receipt-data"]?.string,
      let bytes = try? Base64.decode(Array(text.utf8), allowingWhitespace: true),
      let unverified = try? UnverifiedAppReceipt(parsing: bytes),
      let payload = try? unverified.decoded().content
    else { return status(Status.malformedReceipt) }
    guard isAuthentic(bytes) else { return status(Status.notAuthenticated) }
    let isSandbox = payload.environment?.category == .sandbox
    let isProductionHere = call.configuration.environment == .production
    if isSandbox, isProductionHere { return status(Status.sandboxReceipt) }
    if !isSandbox, !isProductionHere { return status(Status.productionReceipt) }
    let hasSubscription = payload.inAppPurchases.contains(where: \.isSubscription)
    let password = request["password"]?.string
    if let secret = call.configuration.sharedSecret, hasSubscription || password != nil, password != secret {
      return status(Status.wrongSharedSecret)
    }
    return await accepted(
      payload, bytes: bytes, excludesOld: request["exclude-old-transactions"]?.flag ?? false,
      hasSubscription: hasSubscription)
  }

  private func status(_ status: Int64) -> JSONValue {
    .members(
      ("environment", .string(call.configuration.environment.rawValue)), ("status", .integer(status)))
  }

  private func isAuthentic(_ bytes: [UInt8]) -> Bool {
    let now = call.now
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [call.store.signing.appReceiptRoot]),
      policy: VerificationPolicy(
        bundleIds: .oneOf([call.configuration.bundleId]), environments: [.production, .sandbox]),
      clock: { now })
    if case .valid = verifier.verify(bytes) { return true }
    return false
  }

  private func accepted(
    _ payload: AppReceiptPayload, bytes: [UInt8], excludesOld: Bool, hasSubscription: Bool
  ) async -> JSONValue {
    let writer = ReceiptAnswerWriter(now: call.now)
    let members: [(name: String, value: JSONValue?)] = [
      ("status", .integer(0)), ("environment", .string(call.configuration.environment.rawValue)),
      ("receipt", writer.receipt(payload)),
    ]
    guard hasSubscription else { return .members(members) }
    let latest = await latest(for: payload)
    let shown = excludesOld ? Self.newestOfEachSubscription(latest.purchases) : latest.purchases
    var renewed = payload
    renewed.inAppPurchases = latest.purchases
    renewed.receiptCreationDate = call.now
    let receipt = (try? call.store.signing.appReceipts.sign(renewed)) ?? bytes
    return .members(
      members + [
        ("latest_receipt", .string(Base64.encodeToString(receipt))),
        ("latest_receipt_info", .array(shown.map { writer.purchase($0, details: latest.details) })),
        ("pending_renewal_info", .array(latest.renewals.map(writer.renewal))),
      ])
  }

  private struct Latest: Sendable {
    var purchases: [InAppPurchase]
    var details: [String: JWSTransaction]
    var renewals: [JWSRenewalInfo]
  }

  /// The store's purchases of the receipt's customer. If the store has none, the purchases in the receipt.
  private func latest(for payload: AppReceiptPayload) async -> Latest {
    let store = call.store.purchases
    var latest = Latest(purchases: payload.inAppPurchases, details: [:], renewals: [])
    for original in payload.inAppPurchases.compactMap(\.originalTransactionId) {
      guard let account = try? await store.account(of: original),
        let sales = try? await store.history(of: account).sales,
        let subscriptions = try? await store.subscriptionStates(of: account)
      else { continue }
      latest.purchases = []
      for sale in sales where !(sale.isFinished && sale.transaction.type == .consumable) {
        latest.details[sale.identifier] = sale.transaction
        latest.purchases.append(InAppPurchase(of: sale.transaction))
      }
      latest.renewals = subscriptions.map(\.renewalInfo)
      return latest
    }
    return latest
  }

  private static func newestOfEachSubscription(_ purchases: [InAppPurchase]) -> [InAppPurchase] {
    var newest: [String: InAppPurchase] = [:]
    for purchase in purchases {
      let key = purchase.originalTransactionId ?? ""
      let known = newest[key]?.purchaseDate?.millisecondsSince1970 ?? -.infinity
      if (purchase.purchaseDate?.millisecondsSince1970 ?? 0) >= known { newest[key] = purchase }
    }
    return newest.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension InAppPurchase {
  var isSubscription: Bool { productType == .autoRenewableSubscription || expiresDate != nil }

  init(of transaction: JWSTransaction) {
    let isIntroductory = transaction.offerType == .introductory
    let isFree = transaction.offerDiscountType == .freeTrial
    self.init(transaction: transaction.transaction)
    productType = transaction.type.flatMap(AppReceiptProductType.init)
    webOrderLineItemId = transaction.webOrderLineItemId.flatMap { Int64($0) }
    isTrialPeriod = isIntroductory && isFree
    isInIntroOfferPeriod = isIntroductory && !isFree
    promotionalOfferId = transaction.offerType == .promotional ? transaction.offerIdentifier : nil
  }
}

/// The endpoint `verifyReceipt`, which needs no token.
enum ReceiptEndpoints {
  static let routes = [Route("POST", "/verifyReceipt", needsToken: false, verifyReceipt)]

  @Sendable static func verifyReceipt(_ call: EndpointCall) async throws -> RemoteResponse {
    .json(await ReceiptVerification(call).answer())
  }
}
