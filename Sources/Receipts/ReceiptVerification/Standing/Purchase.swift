// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A purchase that a verified receipt states, with its standing; only a verifier can create one.
///
/// That a receipt is genuine does not mean that the purchase still stands: it may have expired, or may have been
/// refunded. Grant what ``VerifiedReceipt/activePurchases(at:)`` returns.
@dynamicMemberLookup
public struct Purchase: Sendable, Hashable {
  /// The statements about the purchase, in terms that all kinds of receipts share. Each is also a member of the
  /// purchase: `purchase.productId`.
  public private(set) var transaction: Transaction
  private var timeline: StandingTimeline
  /// The signed transaction, whose fields no other kind of receipt states.
  package private(set) var signed: JWSTransaction?
  package private(set) var inApp: InAppPurchase?
  /// The payment state on the wire, if the purchase was not paid for when it was signed.
  package private(set) var unpaidState: Int64?
  /// The quantity that the store did not refund, if a checker reported a refund of a part.
  private var checkedQuantity: Int64?

  package init(
    _ transaction: Transaction, _ timeline: StandingTimeline, signed: JWSTransaction? = nil,
    inApp: InAppPurchase? = nil, unpaidState: Int64? = nil,
    remaining: Int64? = nil
  ) {
    self.transaction = transaction
    self.timeline = timeline
    self.signed = signed
    self.inApp = inApp
    self.unpaidState = unpaidState
    checkedQuantity = remaining
  }

  /// A statement about the purchase.
  public subscript<Value>(dynamicMember member: KeyPath<Transaction, Value>) -> Value {
    transaction[keyPath: member]
  }

  /// Returns the standing at an instant, from all that the receipt and the checkers state.
  ///
  /// A later instant may show an expiry. A refund is known only if it happened before the receipt was signed, or if a
  /// checker reported it.
  public func standing(at instant: Timestamp) -> PurchaseStanding { timeline.standing(at: instant) }

  /// Returns `true` if the customer may use what was bought at an instant.
  ///
  /// For a consumable, `true` means that the purchase is valid; only the app knows whether it was delivered before. Of a
  /// non-renewing subscription only the app knows the end.
  public func grantsAccess(at instant: Timestamp) -> Bool { standing(at: instant).grantsAccess }

  /// Returns the quantity that was bought and not refunded at an instant; 1 if the receipt states none, and 0 if the
  /// purchase was taken back or is not paid for.
  public func remainingQuantity(at instant: Timestamp) -> Int64 {
    switch standing(at: instant).status {
    case .refunded, .revoked, .pending: 0
    case .active, .expired, .upgraded, .consumed, .unknown:
      max(0, checkedQuantity ?? transaction.quantity ?? 1)
    }
  }

  package var isUpgraded: Bool? { signed?.isUpgraded }

  /// Applies what checkers state about the purchase. Where stores contradict each other, the purchase does not stand.
  /// What a ledger states counts only if no store was asked, because a ledger may not have heard the latest news.
  fileprivate mutating func apply(_ checked: CheckedPurchases) {
    let stated = checked.standings(of: transaction)
    let ofStores = stated.filter { $0.source != .ledger }
    let standings = ofStores.isEmpty ? stated : ofStores
    if let standing = standings.first(where: { $0.status != .active }) ?? standings.first {
      timeline.replace(with: standing)
    }
    checkedQuantity = standings.compactMap(\.quantity).min() ?? checkedQuantity
    if let revoked = transaction.transactionId.flatMap({ checked.revoked[$0] }) {
      transaction.revocationDate = revoked.revocationDate
      timeline.replace(with: CheckedStanding(status: .refunded, since: revoked.revocationDate))
    }
  }
}

/// The statements of checkers, by transaction: a receipt may have thousands.
private struct CheckedPurchases {
  /// The statements about a transaction, with their order; those under `nil` are about every transaction.
  private var standings: [String?: [(order: Int, standing: CheckedStanding)]] = [:]
  /// The last revocation that was reported of each transaction.
  let revoked: [String: CheckerResponse.RevokedTransaction]

  init(_ checks: [CheckerReport]) {
    for (order, standing) in checks.flatMap(\.checkedStandings).enumerated() {
      standings[standing.transactionId, default: []].append((order, standing))
    }
    revoked = Dictionary(checks.flatMap(\.revokedTransactions).map { ($0.transactionId, $0) }) { _, last in
      last
    }
  }

  /// Returns the statements about a transaction, in the order of the checkers.
  func standings(of transaction: Transaction) -> [CheckedStanding] {
    var found = standings[nil] ?? []
    if let id = transaction.transactionId { found += standings[id] ?? [] }
    return found.sorted { $0.order < $1.order }.map(\.standing).filter { $0.isAbout(transaction) }
  }
}

extension VerifiedReceipt {
  /// The purchases that the receipt states, in its order.
  ///
  /// For a notification, it is that of its signed transaction. What checkers report is taken into account. An app
  /// transaction and a licence state no purchase.
  public var purchases: [Purchase] {
    var purchases = signedPurchases
    guard !checks.isEmpty else { return purchases }
    let checked = CheckedPurchases(checks)
    for index in purchases.indices { purchases[index].apply(checked) }
    return purchases
  }

  /// Returns the purchases that stand at an instant: those to grant.
  ///
  /// A purchase whose standing is unknown is not among them: ask the store, with a checker.
  public func activePurchases(at instant: Timestamp) -> [Purchase] {
    purchases.active(at: instant)
  }

  /// Returns the standing of the receipt as a whole: active if one of its purchases is, and otherwise that of the
  /// purchase whose standing began last; `nil` if the receipt states no purchase.
  public func standing(at instant: Timestamp) -> PurchaseStanding? {
    purchases.standing(at: instant)
  }

  private var signedPurchases: [Purchase] {
    switch content {
    case .jws(.transaction(let payload)):
      [Purchase(payload, AppStorePurchase(payload).timeline(.receipt, signedAt: signedAt))]
    case .jws(.notification(let notification)):
      nested.first { $0.kind == .signedTransaction }.map { announcedPurchases(in: $0, by: notification) }
        ?? []
    case .jws(let payload):
      // Renewal information does not tell whether its subscription was refunded.
      payload.transactions.map { Purchase($0, StandingTimeline(.unknown, since: nil, .receipt)) }
    case .appReceipt(let payload): payload.inAppPurchases.map { purchase($0, until: payload.expirationDate) }
    case .transactionReceipt(let purchaseInfo): [purchase(purchaseInfo)]
    case .detached(let content): content.purchases
    }
  }

  /// Returns the purchase that a notification is about, with the notification's own statements.
  private func announcedPurchases(in part: VerifiedReceipt, by notification: Notification) -> [Purchase] {
    guard case .jws(.transaction(let payload)) = part.content else { return part.signedPurchases }
    var purchase = AppStorePurchase(payload)
    if let renewal = nested.first(where: { $0.kind == .signedRenewalInfo }) {
      purchase.renewalInfo = renewal.renewalInfo
      purchase.renewalInfoSignedDate = renewal.signedAt
    }
    switch notification.notificationType {
    case .refund, .revoke:
      if purchase.revocation == nil, let signedAt {
        purchase.revocation = (signedAt, notification.notificationType == .revoke)
      }
    case .refundReversed: purchase.revocation = nil
    default: break
    }
    return [Purchase(payload, purchase.timeline(.notification, signedAt: signedAt))]
  }

  private func purchase(_ inApp: InAppPurchase, until end: Timestamp?) -> Purchase {
    let transaction = inApp.transaction
    // Only subscriptions have such an identifier, and a subscription without an end is unknown.
    let isSubscription = inApp.webOrderLineItemId.map { $0 != 0 } ?? false
    var timeline = timeline(of: transaction, isSubscription: isSubscription)
    if let end { timeline.expire(at: end) }
    return Purchase(transaction, timeline, inApp: inApp)
  }

  private func purchase(_ purchaseInfo: TransactionReceiptPurchaseInfo) -> Purchase {
    let transaction = purchaseInfo.transaction
    return Purchase(
      transaction,
      timeline(of: transaction, isSubscription: purchaseInfo.webOrderLineItemId?.isEmpty == false))
  }

  private func timeline(of transaction: Transaction, isSubscription: Bool) -> StandingTimeline {
    var purchase = AppStorePurchase(transaction)
    if isSubscription { purchase.type = purchase.type ?? .autoRenewableSubscription }
    return purchase.timeline(.receipt, signedAt: signedAt)
  }
}

extension VerifiedReceipt {
  /// The customer's account, if the receipt states it.
  package var appAccountToken: String? {
    let own: String? =
      switch content {
      case .jws(.transaction(let transaction)): transaction.appAccountToken?.rawValue
      case .jws(.renewalInfo(let renewalInfo)): renewalInfo.appAccountToken?.rawValue
      case .jws(.appTransaction), .jws(.notification), .jws(.realtimeRequest), .appReceipt,
        .transactionReceipt:
        nil
      case .detached(let content): content.obfuscatedAccountId
      }
    let token = own ?? nested.lazy.compactMap(\.appAccountToken).first
    return token?.isEmpty == false ? token : nil
  }
}

extension [Purchase] {
  func active(at instant: Timestamp) -> [Purchase] {
    filter { purchase in purchase.grantsAccess(at: instant) }
  }

  /// Writes the members of a report about the purchases as a whole; none if there is no purchase.
  func writeStanding(to object: inout JSONWriter, at instant: Timestamp) {
    guard let standing = standing(at: instant) else { return }
    object.member("standing", standing.status.rawValue)
    object.member("grantsAccess", standing.grantsAccess)
  }

  /// Returns the standing of the purchases as a whole: see ``VerifiedReceipt/standing(at:)``.
  package func standing(at instant: Timestamp) -> PurchaseStanding? {
    let standings = map { $0.standing(at: instant) }
    func order(_ standing: PurchaseStanding) -> Double { standing.since?.millisecondsSince1970 ?? -.infinity }
    return standings.first(where: \.grantsAccess) ?? standings.max { order($0) < order($1) }
  }
}

extension Purchase {
  fileprivate init(_ payload: JWSTransaction, _ timeline: StandingTimeline) {
    self.init(payload.transaction, timeline, signed: payload)
  }
}

extension CheckedStanding {
  fileprivate func isAbout(_ transaction: Transaction) -> Bool {
    (transactionId == nil || transactionId == transaction.transactionId)
      && (productId == nil || productId == transaction.productId)
  }
}
