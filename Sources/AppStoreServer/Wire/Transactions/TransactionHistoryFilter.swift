// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The type of a product, as history filters spell it (`productType`).
public struct HistoryProductType: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `AUTO_RENEWABLE`: renews until cancelled.
  public static let autoRenewable = HistoryProductType(rawValue: "AUTO_RENEWABLE")
  /// `NON_RENEWABLE`: lasts for a time that the app keeps.
  public static let nonRenewable = HistoryProductType(rawValue: "NON_RENEWABLE")
  /// `CONSUMABLE`: used up.
  public static let consumable = HistoryProductType(rawValue: "CONSUMABLE")
  /// `NON_CONSUMABLE`: bought once, kept for ever.
  public static let nonConsumable = HistoryProductType(rawValue: "NON_CONSUMABLE")
}

/// The order of a history, by the date of the last change (`sort`).
public struct HistorySort: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `ASCENDING`: the oldest change first.
  public static let ascending = HistorySort(rawValue: "ASCENDING")
  /// `DESCENDING`: the latest change first.
  public static let descending = HistorySort(rawValue: "DESCENDING")
}

/// Which transactions of a customer to list, and in which order (Apple's TransactionHistoryRequest).
///
/// A transaction must pass all filters; a filter with several values is passed by any of them.
public struct TransactionHistoryFilter: Sendable, Hashable {
  /// Only purchases at or after this instant (`startDate`).
  public var startDate: Timestamp?
  /// Only purchases before this instant (`endDate`).
  public var endDate: Timestamp?
  /// Only these products; any where empty (`productId`).
  public var productIds: [String]
  /// Only products of these types; any where empty (`productType`).
  public var productTypes: [HistoryProductType]
  /// The order; ascending where `nil` (`sort`).
  public var sort: HistorySort?
  /// Only subscriptions of these groups; any where empty (`subscriptionGroupIdentifier`).
  public var subscriptionGroupIdentifiers: [String]
  /// Only purchases that the customer came by in this way (`inAppOwnershipType`).
  public var inAppOwnershipType: InAppOwnershipType?
  /// Only revoked purchases, or only those that are not (`revoked`).
  public var revoked: Bool?
  /// Whether to leave out revoked purchases (`excludeRevoked`). Apple has deprecated it in favour of ``revoked``.
  public var excludeRevoked: Bool?

  /// Creates a filter; without arguments everything passes, the oldest change first.
  public init(
    startDate: Timestamp? = nil, endDate: Timestamp? = nil, productIds: [String] = [],
    productTypes: [HistoryProductType] = [], sort: HistorySort? = nil,
    subscriptionGroupIdentifiers: [String] = [], inAppOwnershipType: InAppOwnershipType? = nil,
    revoked: Bool? = nil, excludeRevoked: Bool? = nil
  ) {
    self.startDate = startDate
    self.endDate = endDate
    self.productIds = productIds
    self.productTypes = productTypes
    self.sort = sort
    self.subscriptionGroupIdentifiers = subscriptionGroupIdentifiers
    self.inAppOwnershipType = inAppOwnershipType
    self.revoked = revoked
    self.excludeRevoked = excludeRevoked
  }

  /// As the query writes them, in a fixed order.
  package var queryItems: [(name: String, value: String)] {
    var items: [(name: String, value: String)] = []
    if let startDate { items.append(("startDate", startDate.queryValue)) }
    if let endDate { items.append(("endDate", endDate.queryValue)) }
    for productId in productIds { items.append(("productId", productId)) }
    for productType in productTypes { items.append(("productType", productType.rawValue)) }
    if let sort { items.append(("sort", sort.rawValue)) }
    for identifier in subscriptionGroupIdentifiers {
      items.append(("subscriptionGroupIdentifier", identifier))
    }
    if let inAppOwnershipType { items.append(("inAppOwnershipType", inAppOwnershipType.rawValue)) }
    if let revoked { items.append(("revoked", String(revoked))) }
    if let excludeRevoked { items.append(("excludeRevoked", String(excludeRevoked))) }
    return items
  }
}

extension Timestamp {
  /// Whole milliseconds, as queries write dates.
  fileprivate var queryValue: String { String(Int64(wholeMilliseconds)) }
}
