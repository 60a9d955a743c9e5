// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The filters of the transaction history: all different filters must match, and one value of each repeated filter.
struct HistoryFilter {
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

  init(_ call: EndpointCall, isVersion1: Bool) throws(EmulatorError) {
    start = try call.instant("startDate", orElse: .invalidStartDate)
    end = try call.instant("endDate", orElse: .invalidEndDate)
    if let start, start > call.now { throw .invalidStartDate }
    if let start, let end, start >= end { throw .invalidEndDate }
    productIds = Set(call.values("productId"))
    guard productIds.allSatisfy({ 1...255 ~= $0.utf8.count }) else { throw .invalidProductId }
    productTypes = Set(
      try call.choices("productType", of: Array(Self.typeNames.keys), orElse: .invalidProductType)
        .compactMap { Self.typeNames[$0]?.rawValue })
    groups = Set(call.values("subscriptionGroupIdentifier"))
    guard groups.allSatisfy(EndpointCall.isTransactionIdentifier) else {
      throw .invalidSubscriptionGroupIdentifier
    }
    ownership = try call.value("inAppOwnershipType", orElse: .invalidInAppOwnershipType)
    if let ownership, !["PURCHASED", "FAMILY_SHARED", "ASSIGNED"].contains(ownership) {
      throw .invalidInAppOwnershipType
    }
    let excludesRevoked = try call.flag("excludeRevoked", orElse: .invalidExcludeRevoked)
    revoked = try call.flag("revoked", orElse: .invalidRevoked) ?? (excludesRevoked == true ? false : nil)
    switch try call.value("sort", orElse: .invalidSort) {
    case nil, "ASCENDING": isDescending = false
    case "DESCENDING": isDescending = true
    default: throw .invalidSort
    }
    omitsFinishedConsumables = isVersion1
  }

  func accepts(_ record: EmulatorState.TransactionRecord) -> Bool {
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

extension TransactionEndpoints {
  static func history(_ call: EndpointCall, isVersion1: Bool) throws(EmulatorError) -> EmulatorResponse {
    let identifier = try call.transactionIdentifier()
    let filter = try HistoryFilter(call, isVersion1: isVersion1)
    let query = query(call)
    let revision = try call.value("revision", orElse: .invalidRevision)
    var position: Int64 = filter.isDescending ? .max : 0
    if let revision {
      guard let token = PageToken(revision, query: query) else { throw .invalidRevision }
      position = token.position
    }
    let page = try call.store.state.change { (state) throws(EmulatorError) in
      guard let customer = state.customer(of: identifier) else { throw .transactionNotFound }
      return state.page(of: customer, after: position, filter)
    }
    let members: [(name: String, value: JSONValue?)] =
      [
        ("revision", .string(PageToken(position: page.position, issued: call.now).text(query: query))),
        ("hasMore", .bool(page.hasMore)),
      ] + call.app + [("signedTransactions", .array(page.transactions.map(call.sign)))]
    return .json(
      .object(members.compactMap { member in member.value.map { JSONMember(name: member.name, value: $0) } }))
  }

  /// The query that a revision belongs to: the path and all filters, in any order.
  static func query(_ call: EndpointCall) -> [String] {
    call.request.path
      + call.request.query.filter { $0.name != "revision" && $0.name != "paginationToken" }
      .map { "\($0.name)=\($0.value)" }.sorted()
  }
}

extension EmulatorState {
  struct Page: Sendable {
    var transactions: [JWSTransaction] = []
    var position: Int64
    var hasMore = false
  }

  /// The next page of a customer's history, which begins where the last one ended: all pages together cost one pass.
  func page(of customer: Int, after position: Int64, _ filter: HistoryFilter) -> Page {
    let identifiers = customers[customer].transactionIds
    var page = Page(position: position)
    // The list is sorted by modification, so that binary search finds the start.
    var low = 0
    var high = identifiers.count
    while low < high {
      let middle = (low + high) / 2
      let modification = transactions[identifiers[middle]]?.modification ?? 0
      if filter.isDescending ? modification < position : modification <= position {
        low = middle + 1
      } else {
        high = middle
      }
    }
    let rest =
      filter.isDescending
      ? stride(from: low - 1, to: -1, by: -1) : stride(from: low, to: identifiers.count, by: 1)
    for index in rest {
      guard let record = transactions[identifiers[index]], filter.accepts(record) else { continue }
      guard page.transactions.count < PageToken.pageSize else {
        page.hasMore = true
        break
      }
      page.transactions.append(record.transaction)
      page.position = record.modification
    }
    return page
  }
}
