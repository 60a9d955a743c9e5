// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The filters of the transaction history. Different filters must all match; of a repeated filter, one value must
/// match.
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
