// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// How events are made.
extension SubscriptionEngine {
  /// An instant in whole milliseconds, and not before anything that was done already: clocks go back, stores do not.
  /// What is due by then is done first.
  mutating func begin(at instant: Timestamp) -> Timestamp {
    events = []
    passTime(until: instant, atMost: .max)
    return ledger.time
  }

  /// Does what is due, and sets the time; stops after some events.
  @discardableResult
  mutating func passTime(until instant: Timestamp, atMost limit: Int) -> Bool {
    let milliseconds = instant.millisecondsSince1970.rounded(.down)
    guard milliseconds.isFinite else { return true }
    let target = Timestamp(millisecondsSince1970: min(milliseconds, Self.endOfTime))
    while let entry = due.first, entry.date <= target {
      if events.count >= limit { return false }
      due.removeFirst()
      guard var subscription = all[entry.identifier], subscription.dueDate == entry.date else { continue }
      ledger.time = max(ledger.time, entry.date)
      subscription.dueDate = nil
      act(on: &subscription, at: ledger.time)
      store(subscription)
    }
    ledger.time = max(ledger.time, target)
    return true
  }

  /// The year 9999, after which dates are written otherwise, and no period ends.
  private static let endOfTime: Double = 253_370_764_800_000

  mutating func finish() -> [StoreEvent] {
    let finished = events
    events = []
    return finished
  }

  /// Identifiers are decimal numbers of one length, so that they sort.
  mutating func nextTransactionIdentifier() -> String {
    ledger.transactionCount += 1
    return String(2_000_000_000_000_000 + ledger.transactionCount)
  }

  /// The identifier of the period that a transaction pays for.
  static func lineItem(of transactionIdentifier: String) -> String { "3" + transactionIdentifier.dropFirst() }

  /// An instant at which nothing of this subscription was signed before.
  static func stamp(_ subscription: inout Subscription, at now: Timestamp) -> Timestamp {
    let next = Timestamp(
      millisecondsSince1970: max(
        now.millisecondsSince1970, subscription.lastSignedDate.millisecondsSince1970 + 1))
    subscription.lastSignedDate = next
    return next
  }

  /// Emits what happened to a subscription as it is now, and stores it; `past` is the transaction concerned where it is
  /// not the present one.
  mutating func emit(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, of subscription: inout Subscription,
    at stamp: Timestamp, about past: JWSTransaction? = nil, isNewTransaction: Bool = false,
    replacing replaced: JWSTransaction? = nil, reason: ConsumptionRequestReason? = nil
  ) {
    if past == nil { subscription.transaction.signedDate = stamp }
    let uuid = nextUUID()
    let event = StoreEvent(
      number: ledger.eventCount, account: subscription.account,
      applicationUsername: subscription.applicationUsername, signedDate: stamp, type: type,
      subtype: subtype, uuid: uuid,
      transaction: past ?? subscription.transaction, renewalInfo: renewalInfo(of: subscription, at: stamp),
      status: subscription.statusCode(at: stamp), consumptionRequestReason: reason,
      isNewTransaction: isNewTransaction, replacedTransaction: replaced)
    events.append(event)
    store(subscription)
  }

  mutating func nextUUID() -> UUIDString {
    ledger.eventCount += 1
    return UUIDString(
      rawValue: KeyedDraw(seed: options.seed).uuid("notification", UInt64(bitPattern: ledger.eventCount)))
  }

  /// Keeps a subscription, and notes when it is due.
  mutating func store(_ subscription: Subscription) {
    let id = subscription.id
    let previous = all.updateValue(subscription, forKey: id)
    changed.insert(id)
    if previous == nil {
      lines[
        LineKey(
          account: subscription.account, group: subscription.groupIdentifier,
          sharedFrom: subscription.sharedFrom)] = id
    }
    guard let date = subscription.dueDate, previous?.dueDate != date else { return }
    due.insert(DueQueue.Entry(date: date, identifier: id))
    if due.count > 64, due.count > 4 * all.count {
      due.replace(
        with: all.values.compactMap { subscription in
          subscription.dueDate.map { DueQueue.Entry(date: $0, identifier: subscription.id) }
        })
    }
  }

  /// The renewal information at an instant.
  func renewalInfo(of subscription: Subscription, at stamp: Timestamp) -> JWSRenewalInfo {
    let transaction = subscription.transaction
    var info = JWSRenewalInfo().with {
      $0.originalTransactionId = transaction.originalTransactionId
      $0.autoRenewProductId = subscription.autoRenewProductIdentifier
      $0.productId = transaction.productId
      $0.autoRenewStatus = subscription.autoRenews ? .on : .off
      $0.isInBillingRetryPeriod = subscription.isInBillingRetry
      $0.priceIncreaseStatus = subscription.priceIncreaseStatus
      $0.signedDate = stamp
      $0.environment = options.environment
      $0.recentSubscriptionStartDate = subscription.recentStartDate
      $0.renewalDate = subscription.expiresDate
      $0.currency = transaction.currency
      $0.appAccountToken = transaction.appAccountToken
    }
    info.expirationIntent = subscription.expirationIntent
    if subscription.isInBillingRetry { info.gracePeriodExpiresDate = subscription.gracePeriodExpiresDate }
    info.renewalPrice = subscription.increasedPrice ?? subscription.renewalPrice
    if let offer = subscription.renewalOffer,
      offer.productIdentifier == subscription.autoRenewProductIdentifier
    {
      info.offerType = offer.type
      info.offerIdentifier = offer.identifier
      info.offerDiscountType = offer.paymentMode
      info.offerPeriod = offer.period
      info.renewalPrice = offer.price
    }
    if subscription.expirationIntent != nil, !subscription.isFamilyShared {
      let offers = winBackOffers(for: subscription)
      if !offers.isEmpty { info.eligibleWinBackOfferIds = offers }
    }
    return info
  }
}
