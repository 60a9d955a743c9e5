// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension DetachedContent {
  /// The purchases, those that were not paid for among them. A licence states none.
  var purchases: [Purchase] {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.purchases
    case .googlePlayOrders(let list): list.orders.flatMap(\.purchases)
    case .googlePlayLicense: []
    case .huaweiPurchase(let purchase):
      [
        Purchase(
          purchase.transaction, purchase.timeline(.receipt),
          unpaidState: purchase.isPaid ? nil : purchase.purchaseState?.rawValue)
      ]
    }
  }
}

extension GooglePlayPurchase {
  fileprivate var purchases: [Purchase] {
    let timeline = timeline
    return transactions.map {
      Purchase($0, timeline, unpaidState: isPaid ? nil : purchaseState?.rawValue)
    }
  }

  /// The signed data of a subscription states whether it renews, but not until when it is paid for, so that only Google
  /// Play knows whether it stands.
  private var timeline: StandingTimeline {
    switch purchaseState {
    case .purchased, nil:
      purchaseTime == nil || autoRenewing != nil
        ? StandingTimeline(.unknown, since: nil, .receipt)
        : StandingTimeline(.active, since: purchaseTime, .receipt)
    case .cancelled: StandingTimeline(.revoked, since: nil, .receipt)
    case .refunded: StandingTimeline(.refunded, since: nil, .receipt)
    case .pending: StandingTimeline(.pending, since: purchaseTime, .receipt)
    case .unknown: StandingTimeline(.unknown, since: nil, .receipt)
    }
  }
}

extension HuaweiPurchase {
  /// Returns the timeline of the purchase. The signed data of a subscription states until when it is paid for.
  package func timeline(_ source: PurchaseStanding.Source) -> StandingTimeline {
    switch purchaseState {
    case .purchased, nil: break
    case .cancelled: return StandingTimeline(.revoked, since: cancelTime, source)
    case .refunded: return StandingTimeline(.refunded, since: cancelTime, source)
    case .pending, .initialized: return StandingTimeline(.pending, since: bought, source)
    case .unknown: return StandingTimeline(.unknown, since: nil, source)
    }
    if consumptionState == 1 { return StandingTimeline(.consumed, since: nil, source) }
    guard let bought, expirationDate != nil || kind != .subscription else {
      return StandingTimeline(.unknown, since: nil, source)
    }
    var end = expirationDate
    if let expirationDate, let graceExpirationTime { end = max(expirationDate, graceExpirationTime) }
    // The subscription was not in force when it was signed, whatever its dates say.
    if subIsvalid == false, cancelTime == nil { return StandingTimeline(.expired, since: end, source) }
    return StandingTimeline(from: bought, due: [cancelTime, end].compactMap(\.self), source) { instant in
      if let cancelTime, instant >= cancelTime { return .refunded }
      return end.map { instant < $0 } ?? true ? .active : .expired
    }
  }

  private var bought: Timestamp? { purchaseTime ?? purchaseTimeMillis }
}
