// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PlayPurchaseLine {
  /// Takes the higher fact of each type, and all that was voided.
  mutating func join(_ other: PlayPurchaseLine) {
    purchase = .higher(purchase, other.purchase)
    joinVoids(other)
    replaced = .higher(replaced, other.replaced)
    notice = .higher(notice, other.notice)
    gone = .higher(gone, other.gone)
    account = .higher(account, other.account)
  }

  /// For one of each week of five years, which is more than Google Play refunds: it refuses orders of three years ago.
  static let maximumVoidCount = 256

  /// A purchase has many orders, one for each period and each product that was added, and each may be voided. Which of
  /// them are kept depends on their names alone, and not on when they were voided, so that the order in which they came
  /// cannot matter.
  private mutating func joinVoids(_ other: PlayPurchaseLine) {
    // Ledgers of version 2, which have one order that was voided, are read into an empty one.
    let known = voids ?? []
    let added = Self.ordered((other.voids ?? []) + [other.voided].compactMap(\.self))
    let all = added.isEmpty ? known : Self.ordered(known + added)
    voids = all.isEmpty ? nil : Array(all.suffix(Self.maximumVoidCount))
  }

  /// One of each name, by name.
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

  /// The line items, each with what was voided of its order. A purchase without any stands for itself.
  func items(of purchase: PlayPurchaseFact) -> [PlayEntitlement.Item] {
    (purchase.items.isEmpty ? [PlayItem()] : purchase.items).map { item in
      PlayEntitlement.Item(
        productId: item.productId, orderId: order(of: item, in: purchase), expiryTime: item.expiryTime,
        renews: item.renews ?? false, quantity: item.quantity ?? 1, voided: firstVoid(of: item, in: purchase),
        refundable: item.refundable, partialRefunds: partialRefunds(in: purchase))
    }
  }

  /// Ledgers of versions 1 and 2 have one order for all.
  private func order(of item: PlayItem, in purchase: PlayPurchaseFact) -> String? {
    item.orderId ?? (purchase.items.contains { $0.orderId != nil } ? nil : purchase.orderId)
  }

  /// The order that paid for a line item is the latest of its orders: earlier periods may be refunded without an effect on
  /// this one. A one-time purchase has but one order. If an order is not known, it may be any.
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

  /// A refund of a part of the quantity names no product: of an order of several only Google Play knows what is left.
  private func partialRefunds(in purchase: PlayPurchaseFact) -> [PlayEntitlement.PartialRefund] {
    guard !purchase.isSubscription, purchase.items.count <= 1 else { return [] }
    return (voids ?? []).compactMap { void in
      void.quantity.map { PlayEntitlement.PartialRefund(date: void.date, quantity: $0) }
    }
    .sorted { $0.date < $1.date }
  }
}

extension PlayPurchaseFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(asOf, other.asOf) }
}

extension PlayVoidedFact: PurchaseFact {
  /// Of two that name the same, the first counts; of two of the same instant, the one that states a reason.
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(other.date, date) ?? FactOrder.isLower(reason != nil, other.reason != nil)
  }

  /// In the order in which they are kept, those of later periods longest; `nil` for two that name the same.
  func isOfEarlierOrder(than other: Self) -> Bool? {
    // What names no order concerns all of them.
    FactOrder.isLower(orderId == nil, other.orderId == nil)
      ?? FactOrder.isLower(quantity == nil, other.quantity == nil)
      ?? FactOrder.isLower(identifier: period, other.period)
      ?? FactOrder.isLower(orderId, other.orderId)
      // Each refund of a part counts, the whole of an order once.
      ?? (quantity == nil ? nil : FactOrder.isLower(date, other.date))
      ?? (quantity == other.quantity ? nil : (quantity ?? 0) < (other.quantity ?? 0))
  }

  /// Renewals of a subscription append `..0`, `..1` to the order.
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
