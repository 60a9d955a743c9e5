// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension PlayPurchaseLine {
  /// Takes the higher fact of each type.
  mutating func join(_ other: PlayPurchaseLine) {
    purchase = .higher(purchase, other.purchase)
    voided = .higher(voided, other.voided)
    replaced = .higher(replaced, other.replaced)
    notice = .higher(notice, other.notice)
    gone = .higher(gone, other.gone)
  }

  /// Whether the order that was voided is the one that the purchase now stands on: of a subscription the latest, whose
  /// earlier periods may be refunded without an effect on this one.
  var isVoided: Bool {
    guard let voided else { return false }
    guard let purchase, purchase.isSubscription, let orderId = purchase.orderId else { return true }
    return FactOrder.isLower(voided.orderId ?? orderId, orderId) == nil
  }
}

extension PlayPurchaseFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(asOf, other.asOf) }
}

extension PlayVoidedFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(date, other.date)
      ?? FactOrder.isLower(reason != nil, other.reason != nil)
  }
}

extension PlayReplacedFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(date, other.date) }
}

extension PlayNoticeFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(date, other.date) ?? FactOrder.isLower(messageId, other.messageId)
  }
}

extension PlayGoneFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(asOf, other.asOf) }
}
