// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension SubscriptionEngine {
  /// The engine's time, in whole milliseconds. It never goes back, even if the clock does.
  var now: Timestamp { ledger.time }

  /// Performs everything that is due at an instant, and then an operation, and returns the events. If the operation
  /// throws, the next successful one returns the events that were due.
  package mutating func operate<Failure>(
    at instant: Timestamp, _ body: (inout SubscriptionEngine) throws(Failure) -> Void
  ) throws(Failure) -> [StoreEvent] {
    begin(at: instant)
    try body(&self)
    return finish()
  }

  mutating func begin(at instant: Timestamp) { passTime(until: instant, atMost: .max) }

  /// Performs everything that is due and advances the time. Returns `false` if it stopped at the limit of events.
  @discardableResult
  mutating func passTime(until instant: Timestamp, atMost limit: Int) -> Bool {
    let milliseconds = instant.millisecondsSince1970.rounded(.down)
    guard milliseconds.isFinite else { return true }
    let target = Timestamp(millisecondsSince1970: min(milliseconds, Self.endOfTime))
    while let entry = nextDue(until: target) {
      if events.count >= limit { return false }
      due.removeFirst()
      guard var subscription = self[entry.identifier], subscription.dueDate == entry.date else { continue }
      ledger.time = max(ledger.time, entry.date)
      subscription.dueDate = nil
      act(on: &subscription)
      store(subscription)
    }
    ledger.time = max(ledger.time, target)
    return true
  }

  /// The next due date in memory. Stored subscriptions that are due before it are first read into memory.
  private mutating func nextDue(until target: Timestamp) -> DueQueue.Entry? {
    while let (key, entry) = nextStoredDue, entry.date <= target,
      due.first.map({ !$0.precedes(entry) }) ?? true
    {
      dueKey = key
      // A subscription in memory also has its due date in memory.
      if all.rows[entry.identifier] == nil, let subscription = self[entry.identifier] {
        take(subscription)
      }
    }
    return due.first.flatMap { $0.date <= target ? $0 : nil }
  }

  /// The end of the year 9999. Later dates have another format, and no period ends after it.
  private static let endOfTime: Double = 253_370_764_800_000

  mutating func finish() -> [StoreEvent] {
    let finished = events
    events = []
    return finished
  }

  /// A new transaction identifier. Identifiers are decimal numbers of equal length, so they sort.
  mutating func nextTransactionIdentifier() -> String {
    ledger.transactionCount += 1
    return String(2_000_000_000_000_000 + ledger.transactionCount)
  }

  /// The identifier of a transaction's period (`webOrderLineItemId`).
  static func lineItem(of transactionIdentifier: String) -> String { "3" + transactionIdentifier.dropFirst() }

  /// A date that is later than a signed one, and not before `now`.
  static func later(than signedDate: Timestamp?, _ now: Timestamp) -> Timestamp {
    Timestamp(
      millisecondsSince1970: max(now.millisecondsSince1970, (signedDate?.millisecondsSince1970 ?? 0) + 1))
  }

  /// An unused signing date of this subscription.
  static func stamp(_ subscription: inout Subscription, at now: Timestamp) -> Timestamp {
    subscription.lastSignedDate = later(than: subscription.lastSignedDate, now)
    return subscription.lastSignedDate
  }

  /// Emits an event with the current state of a subscription, and stores the subscription. `past` is the transaction
  /// that the event is about, if that is not the current one.
  mutating func emit(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, of subscription: inout Subscription,
    at stamp: Timestamp, about past: JWSTransaction? = nil, isNewTransaction: Bool = false,
    replacing replaced: JWSTransaction? = nil, reason: ConsumptionRequestReason? = nil
  ) {
    if past == nil { subscription.transaction.signedDate = stamp }
    let uuid = nextUUID()
    events.append(
      StoreEvent(
        number: ledger.eventCount, account: subscription.account,
        applicationUsername: subscription.applicationUsername, signedDate: stamp, type: type,
        subtype: subtype, uuid: uuid, transaction: past ?? subscription.transaction,
        renewalInfo: renewalInfo(of: subscription, at: stamp), status: subscription.statusCode(at: stamp),
        consumptionRequestReason: reason, isNewTransaction: isNewTransaction, replacedTransaction: replaced))
    store(subscription)
  }

  /// Emits an event of a subscription now. It is not applied to the family's shares.
  mutating func notify(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, of subscription: inout Subscription
  ) {
    let stamp = Self.stamp(&subscription, at: now)
    emit(type, subtype, of: &subscription, at: stamp)
  }

  /// Emits an event of a subscription now, and applies it to the family's shares.
  mutating func announce(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, of subscription: inout Subscription
  ) {
    notify(type, subtype, of: &subscription)
    followFamily(of: &subscription, type, subtype, isNewTransaction: false)
  }

  /// Emits the event of a new transaction, and applies it to the family's shares.
  mutating func announceTransaction(
    _ type: NotificationType, _ subtype: NotificationSubtype?, of subscription: inout Subscription,
    at stamp: Timestamp, replacing replaced: JWSTransaction? = nil
  ) {
    emit(type, subtype, of: &subscription, at: stamp, isNewTransaction: true, replacing: replaced)
    followFamily(of: &subscription, type, subtype, isNewTransaction: true)
  }

  mutating func nextModification() -> Int64 {
    ledger.modificationCount += 1
    return ledger.modificationCount
  }

  mutating func nextUUID() -> UUIDString {
    ledger.eventCount += 1
    return UUIDString(
      rawValue: KeyedRandomSource(seed: options.seed).uuid(
        "notification", UInt64(bitPattern: ledger.eventCount)))
  }

  /// Stores a subscription, and schedules its due date.
  mutating func store(_ subscription: Subscription) {
    let id = subscription.id
    let previous = self[id]
    if source != nil, dueBefore.index(forKey: id) == nil { dueBefore[id] = .some(previous?.dueDate) }
    if previous == nil || all.rows[id] == nil {
      identifiersByAccount[subscription.account, default: []].append(id)
    }
    let isDue = all.rows[id]?.dueDate == subscription.dueDate
    all.set(subscription, at: id)
    if !isDue { schedule(subscription) }
  }

  /// Adds a stored subscription to memory, because its due date has come.
  private mutating func take(_ subscription: Subscription) {
    all.rows[subscription.id] = subscription
    schedule(subscription)
  }

  private mutating func schedule(_ subscription: Subscription) {
    guard let date = subscription.dueDate else { return }
    due.insert(DueQueue.Entry(date: date, identifier: subscription.id))
    if due.count > 64, due.count > 4 * all.rows.count {
      due.replace(
        with: all.rows.values.compactMap { subscription in
          subscription.dueDate.map { DueQueue.Entry(date: $0, identifier: subscription.id) }
        })
    }
  }

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
      $0.appTransactionId = transaction.appTransactionId
      $0.expirationIntent = subscription.expirationIntent
      $0.renewalPrice = subscription.increasedPrice ?? subscription.renewalPrice
    }
    if subscription.isInBillingRetry { info.gracePeriodExpiresDate = subscription.gracePeriodExpiresDate }
    if let offer = subscription.currentOffer {
      info.offerType = offer.type
      info.offerIdentifier = offer.identifier
      info.offerDiscountType = offer.paymentMode
      info.offerPeriod = offer.period.description
      info.renewalPrice = offer.price
    }
    if subscription.expirationIntent != nil, !subscription.isFamilyShared {
      let offers = winBackOffers(for: subscription)
      if !offers.isEmpty { info.eligibleWinBackOfferIds = offers }
    }
    return info
  }
}
