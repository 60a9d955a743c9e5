// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PlayPurchaseLine: LineFacts {
  static var invalidIdentity: String {
    "The package name or the purchase token is not of visible ASCII characters, or too long."
  }

  static func decode(_ record: PlayLedgerRecord) -> (PlayEntitlement.ID, Self)? {
    PlayEntitlement.ID(packageName: record.packageName, purchaseToken: record.purchaseToken)
      .map { ($0, record.facts) }
  }

  func record(_ id: PlayEntitlement.ID) -> PlayLedgerRecord {
    PlayLedgerRecord(packageName: id.packageName, purchaseToken: id.purchaseToken, facts: self)
  }

  func line(_ id: PlayEntitlement.ID) -> PlayEntitlement? { PlayEntitlement(id, self) }

  var withdrawals: Self? { voids.map { voids in Self().with { $0.voids = voids } } }

  /// Keeps the higher fact of each type, and all voided orders up to the limit.
  mutating func join(_ other: PlayPurchaseLine) {
    purchase = .higher(purchase, other.purchase)
    joinVoids(other)
    replaced = .higher(replaced, other.replaced)
    notice = .higher(notice, other.notice)
    gone = .higher(gone, other.gone)
    account = .higher(account, other.account)
  }

  /// The largest number of voided orders that are kept: one for each week of almost five years.
  ///
  /// Google Play refunds fewer, because it refuses orders older than three years.
  static let maximumVoidCount = 256

  /// Merges the voided orders.
  ///
  /// A purchase has many orders, one for each period and each added product, and each of them may be voided. The orders
  /// to keep are chosen only by their names, and not by the time of voiding, so that the order of arrival does not
  /// matter.
  private mutating func joinVoids(_ other: PlayPurchaseLine) {
    // Ledgers of version 2, which have one voided order, are read into an empty ledger.
    let known = voids ?? []
    let added = Self.ordered((other.voids ?? []) + [other.voided].compactMap(\.self))
    let all = added.isEmpty ? known : Self.ordered(known + added)
    voids = all.isEmpty ? nil : Array(all.suffix(Self.maximumVoidCount))
  }

  /// Returns one fact for each name, sorted by name.
  private static func ordered(_ voids: [PlayVoidedFact]) -> [PlayVoidedFact] {
    guard voids.count > 1 else { return voids }
    return voids.sorted { $0.isOfEarlierOrder(than: $1) ?? false }.reduce(into: []) { result, void in
      if let last = result.last, last.isOfEarlierOrder(than: void) == nil {
        result[result.count - 1] = .higher(last, void) ?? void
      } else {
        result.append(void)
      }
    }
  }

  /// Returns the line items, each with its voided orders; a purchase without line items counts as one.
  func items(of purchase: PlayPurchaseFact) -> [PlayEntitlement.Item] {
    (purchase.items.isEmpty ? [PlayItem()] : purchase.items).map { item in
      PlayEntitlement.Item(
        productId: item.productId, orderId: order(of: item, in: purchase), expiryTime: item.expiryTime,
        renews: item.renews ?? false, quantity: item.quantity ?? 1, voided: firstVoid(of: item, in: purchase),
        refundable: item.refundable, isConsumed: item.isConsumed ?? false,
        basePlanId: item.basePlanId, offerId: item.offerId, isPrepaid: item.isPrepaid ?? false,
        offerPhase: item.offerPhase, priceConsent: item.priceConsent,
        partialRefunds: partialRefunds(in: purchase))
    }
  }

  /// Returns the order of a line item; ledgers of versions 1 and 2 have one order for all.
  private func order(of item: PlayItem, in purchase: PlayPurchaseFact) -> String? {
    item.orderId ?? (purchase.items.contains { $0.orderId != nil } ? nil : purchase.orderId)
  }

  /// Returns the first void of the order that paid for a line item, which is the latest of its orders.
  ///
  /// Refunds of earlier periods do not affect the current one. A one-time purchase has only one order. If the order of
  /// a subscription's line item is unknown, it may be any order except those of other line items.
  private func firstVoid(of item: PlayItem, in purchase: PlayPurchaseFact) -> PlayEntitlement.Voided? {
    let order = order(of: item, in: purchase)
    return voids?.lazy.filter { void in
      guard void.quantity == nil else { return false }
      guard purchase.isSubscription, let voided = void.orderId else { return true }
      if let order { return FactOrder.isLower(voided, order) == nil }
      return !purchase.items.contains { $0.orderId != nil && FactOrder.isLower($0.orderId, voided) == nil }
    }
    .map { PlayEntitlement.Voided(date: $0.date, orderId: $0.orderId) }
    .min { $0.date < $1.date }
  }

  /// Returns the refunds of a part of the quantity.
  ///
  /// Such a refund names no product: if an order has several products, only Google Play knows the remaining quantities.
  private func partialRefunds(in purchase: PlayPurchaseFact) -> [PlayEntitlement.PartialRefund] {
    guard !purchase.isSubscription, purchase.items.count <= 1 else { return [] }
    return (voids ?? []).compactMap { void in
      void.quantity.map { PlayEntitlement.PartialRefund(date: void.date, quantity: $0) }
    }
    .sorted { $0.date < $1.date }
  }
}

extension EntitlementLedger {
  /// The entitlement of a purchase in Google Play; `nil` until Google Play was asked about it.
  public subscript(id: PlayEntitlement.ID) -> PlayEntitlement? { playPurchases[id] }

  /// The entitlements of all purchases in Google Play, sorted by app and purchase token.
  public var playEntitlements: [PlayEntitlement] { playPurchases.lines }

  /// Merges facts about a purchase in Google Play.
  ///
  /// If the purchase was granted and names another that it replaced, the other one ends.
  package mutating func apply(_ line: PlayPurchaseLine, to id: PlayEntitlement.ID) {
    playPurchases.join(line, to: id)
    guard let purchase = line.purchase, let linked = purchase.linkedPurchaseToken,
      // Until the new purchase is paid for, the other one continues.
      !purchase.state.hasPrefix("SUBSCRIPTION_STATE_PENDING"),
      let replaced = PlayEntitlement.ID(packageName: id.packageName, purchaseToken: linked), replaced != id
    else { return }
    playPurchases.join(
      PlayPurchaseLine().with {
        $0.replaced = PlayReplacedFact(
          date: purchase.startTime ?? purchase.asOf, purchaseToken: id.purchaseToken)
      }, to: replaced)
  }
}

extension PlayPurchaseFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(asOf, other.asOf) }
}

extension PlayVoidedFact: PurchaseFact {
  /// Compares two voids of the same order: the earlier one is higher; of two at the same instant, the one with a
  /// reason.
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(other.date, date) ?? FactOrder.isLower(reason != nil, other.reason != nil)
  }

  /// Compares the orders of two voids by the sequence in which they are dropped, later periods last; `nil` for the same
  /// order.
  func isOfEarlierOrder(than other: Self) -> Bool? {
    // A void without an order concerns all orders.
    FactOrder.isLower(orderId == nil, other.orderId == nil)
      ?? FactOrder.isLower(quantity == nil, other.quantity == nil)
      ?? FactOrder.isLower(identifier: period, other.period)
      ?? FactOrder.isLower(orderId, other.orderId)
      // Each refund of a part counts; a full refund of an order counts once.
      ?? (quantity == nil ? nil : FactOrder.isLower(date, other.date))
      ?? (quantity == other.quantity ? nil : (quantity ?? 0) < (other.quantity ?? 0))
  }

  /// The suffix that each renewal of a subscription appends to the order (`..0`, `..1`), without the dots.
  private var period: String? {
    guard let orderId, let dots = orderId.firstRange(of: "..") else { return nil }
    return String(orderId[dots.upperBound...])
  }
}

extension PlayReplacedFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(other.date, date) }
}

extension PlayAccountFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(isOfExpired != true, other.isOfExpired != true) ?? FactOrder.isLower(asOf, other.asOf)
  }
}

extension PlayNoticeFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(date, other.date) ?? FactOrder.isLower(messageId, other.messageId)
  }
}

extension PlayGoneFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(asOf, other.asOf) }
}
