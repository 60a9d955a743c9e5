// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoints for transactions, subscriptions, refunds, app transactions, orders, finishing, and the app account
/// token.
enum TransactionEndpoints {
  static let routes = [
    Route("GET", "/inApps/v2/history/{}") { call in
      try await history(call, isVersion1: false)
    },
    Route("GET", "/inApps/v1/history/{}") { call in
      try await history(call, isVersion1: true)
    },
    Route("GET", "/inApps/v1/transactions/{}") { call in
      .json(["signedTransactionInfo": call.sign(try await call.sale().transaction)])
    },
    Route("GET", "/inApps/v1/transactions/appTransactions/{}", appTransaction),
    Route("GET", "/inApps/v1/lookup/{}", order),
    Route("GET", "/inApps/v2/refund/lookup/{}", refunds),
    // Version 1 returns at most fifty transactions, without paging.
    Route("GET", "/inApps/v1/refund/lookup/{}") { call in
      .json(["signedTransactions": try await refunded(call).prefix(50).map { call.sign($0.transaction) }])
    },
    Route("POST", "/inApps/v1/transactions/{}/finish") { call in
      try await call.purchases.finish(call.sale().identifier)
      return .empty()
    },
    Route("PUT", "/inApps/v1/transactions/{}/appAccountToken", setAppAccountToken),
    Route("GET", "/inApps/v1/subscriptions/{}", subscriptionStatuses),
  ]

  @Sendable private static func appTransaction(_ call: EndpointCall) async throws -> RemoteResponse {
    guard var appTransaction = try await call.purchases.appTransaction(of: call.account()) else {
      throw Refusal.appTransactionNotFound
    }
    appTransaction.receiptCreationDate = call.now
    return .json(["signedAppTransactionInfo": call.store.signing.sign(.appTransaction(appTransaction))])
  }

  /// Looks up an order, in production only.
  @Sendable private static func order(_ call: EndpointCall) async throws -> RemoteResponse {
    guard call.configuration.environment == .production else {
      return .text("Orders are looked up in production.\n", status: 404)
    }
    let order = call.parameter()
    guard 1...64 ~= order.utf8.count else { throw Refusal.generalBadRequest }
    let transactions = try await call.purchases.transactions(ofOrder: order)
    guard !transactions.isEmpty else { return .json(["status": 1]) }
    return .json(["status": 0, "signedTransactions": transactions.map { call.sign($0) }])
  }

  @Sendable private static func setAppAccountToken(_ call: EndpointCall) async throws -> RemoteResponse {
    let identifier = try call.transactionIdentifier()
    guard let token = try call.body()["appAccountToken"]?.string,
      let uuid = UUIDString(rawValue: token).canonical
    else { throw Refusal.appAccountTokenNotUUID }
    let sale: StoreSaleRecord
    do { sale = try await call.sale() } catch Refusal.transactionIdNotFound {
      throw Refusal.originalTransactionIdNotFound
    }
    guard sale.originalIdentifier == identifier else { throw Refusal.transactionIdNotOriginal }
    guard sale.transaction.inAppOwnershipType != .familyShared else {
      throw Refusal.familyTransactionNotSupported
    }
    try await call.purchases.setAppAccountToken(uuid, of: identifier)
    return .empty()
  }

  @Sendable private static func subscriptionStatuses(_ call: EndpointCall) async throws -> RemoteResponse {
    _ = try call.transactionIdentifier()
    let statuses = try call.choices("status", of: ["1", "2", "3", "4", "5"], orElse: .invalidStatus)
    let states = try await call.purchases.subscriptionStates(of: call.account())
    var groups: [(identifier: String, items: [JSONMembers])] = []
    for state in states where statuses.isEmpty || statuses.contains(String(state.status.rawValue)) {
      let group = state.subscription.groupIdentifier
      let item: JSONMembers = [
        "status": state.status.rawValue, "originalTransactionId": state.subscription.id,
        "signedTransactionInfo": call.sign(state.subscription.transaction),
        "signedRenewalInfo": call.sign(state.renewalInfo),
      ]
      if let index = groups.firstIndex(where: { $0.identifier == group }) {
        groups[index].items.append(item)
      } else {
        groups.append((group, [item]))
      }
    }
    let data = groups.map { group in
      ["subscriptionGroupIdentifier": group.identifier, "lastTransactions": group.items] as JSONMembers
    }
    return .json(call.app + ["data": data])
  }

  // MARK: - Lists

  private static func history(_ call: EndpointCall, isVersion1: Bool) async throws -> RemoteResponse {
    _ = try call.transactionIdentifier()
    let filter = try HistoryFilter(call, isVersion1: isVersion1)
    let position = try revision(call)
    let account = try await call.account()
    let page = try await call.purchases.history(
      of: account, after: position, isDescending: filter.isDescending, limit: PageToken.pageSize
    ) { filter.accepts($0) }
    let last = page.position ?? (filter.isDescending ? .max : 0)
    return .json(
      ["revision": revision(last, call), "hasMore": page.hasMore] + call.app
        + ["signedTransactions": page.sales.map { call.sign($0.transaction) }])
  }

  @Sendable private static func refunds(_ call: EndpointCall) async throws -> RemoteResponse {
    let refunded = try await refunded(call)
    var start = 0
    if let position = try revision(call) {
      // There may be newer refunds since the last page, so continue after the last modification that was read.
      start = (refunded.firstIndex { $0.modification == position } ?? -1) + 1
    }
    let page = refunded.dropFirst(start).prefix(PageToken.pageSize)
    let position = page.last?.modification ?? refunded.prefix(start).last?.modification ?? 0
    return .json([
      "signedTransactions": page.map { call.sign($0.transaction) }, "revision": revision(position, call),
      "hasMore": page.endIndex < refunded.endIndex,
    ])
  }

  /// The refunded purchases, ordered by revocation date.
  private static func refunded(_ call: EndpointCall) async throws -> [StoreSaleRecord] {
    let account = try await call.account()
    let sales = try await call.purchases.history(of: account) { $0.transaction.revocationDate != nil }.sales
    return sales.sorted {
      let left = $0.transaction.revocationDate?.millisecondsSince1970 ?? 0
      let right = $1.transaction.revocationDate?.millisecondsSince1970 ?? 0
      return left == right ? $0.modification < $1.modification : left < right
    }
  }

  /// The position in the revision that the request continues.
  private static func revision(_ call: EndpointCall) throws -> Int64? {
    try call.page("revision", of: query(call), orElse: .invalidRequestRevision)?.position
  }

  private static func revision(_ position: Int64, _ call: EndpointCall) -> String {
    PageToken(position: position, issued: call.now).text(query: query(call))
  }

  /// The query that a revision is bound to: the path and all filters, in any order.
  private static func query(_ call: EndpointCall) -> [String] {
    call.request.path
      + call.request.query.filter { $0.name != "revision" && $0.name != "paginationToken" }
      .map { "\($0.name)=\($0.value)" }.sorted()
  }
}

/// The filters of the transaction history. Different filters must all match; of a repeated filter, one value must
/// match.
private struct HistoryFilter {
  private let start: Timestamp?
  private let end: Timestamp?
  private let productIds: Set<String>
  private let productTypes: Set<String>
  private let groups: Set<String>
  private let ownership: String?
  private let revoked: Bool?
  private let omitsFinishedConsumables: Bool
  let isDescending: Bool

  private static let typeNames = [
    "AUTO_RENEWABLE": ProductType.autoRenewableSubscription, "NON_RENEWABLE": .nonRenewingSubscription,
    "CONSUMABLE": .consumable, "NON_CONSUMABLE": .nonConsumable,
  ]

  init(_ call: EndpointCall, isVersion1: Bool) throws {
    start = try call.instant("startDate", orElse: .invalidStartDate)
    end = try call.instant("endDate", orElse: .invalidEndDate)
    if let start, start > call.now { throw Refusal.invalidStartDate }
    if let start, let end, start >= end { throw Refusal.invalidEndDate }
    productIds = Set(call.values("productId"))
    guard productIds.allSatisfy({ 1...255 ~= $0.utf8.count }) else { throw Refusal.invalidProductId }
    productTypes = Set(
      try call.choices("productType", of: Array(Self.typeNames.keys), orElse: .invalidProductType)
        .compactMap { Self.typeNames[$0]?.rawValue })
    groups = Set(call.values("subscriptionGroupIdentifier"))
    guard groups.allSatisfy(EndpointCall.isTransactionIdentifier) else {
      throw Refusal.invalidSubscriptionGroupIdentifier
    }
    ownership = try call.value("inAppOwnershipType", orElse: .invalidInAppOwnershipType)
    if let ownership, !["PURCHASED", "FAMILY_SHARED", "ASSIGNED"].contains(ownership) {
      throw Refusal.invalidInAppOwnershipType
    }
    let excludesRevoked = try call.flag("excludeRevoked", orElse: .invalidExcludeRevoked)
    revoked = try call.flag("revoked", orElse: .invalidRevoked) ?? (excludesRevoked == true ? false : nil)
    switch try call.value("sort", orElse: .invalidSort) {
    case nil, "ASCENDING": isDescending = false
    case "DESCENDING": isDescending = true
    default: throw Refusal.invalidSort
    }
    omitsFinishedConsumables = isVersion1
  }

  func accepts(_ record: StoreSaleRecord) -> Bool {
    let transaction = record.transaction
    let isConsumable = transaction.type == .consumable
    if omitsFinishedConsumables, isConsumable, record.isFinished { return false }
    if let start, (transaction.purchaseDate ?? start) < start { return false }
    if let end, let purchased = transaction.purchaseDate, purchased >= end { return false }
    if !productIds.isEmpty, !productIds.contains(transaction.productId ?? "") { return false }
    if !productTypes.isEmpty, !productTypes.contains(transaction.type?.rawValue ?? "") { return false }
    if !groups.isEmpty, !groups.contains(transaction.subscriptionGroupIdentifier ?? "") { return false }
    if let ownership, transaction.inAppOwnershipType?.rawValue != ownership { return false }
    if let revoked, (transaction.revocationDate != nil) != revoked { return false }
    return true
  }
}
