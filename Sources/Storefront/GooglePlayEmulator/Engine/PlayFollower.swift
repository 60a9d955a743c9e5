// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptCodec
internal import Storefront

/// Processes the engine's events: updates Google Play's purchases and orders, and publishes notifications.
///
/// Each event is processed in one commit together with the number of the last processed event, so that each counts
/// once, even after a crash.
struct PlayFollower {
  let ledger: PlayLedger
  let packageName: String
  /// `true` if purchases are tests by default.
  let isTest: Bool
  /// `true` if messages are pushed.
  let pushes: Bool
  let now: Timestamp
  /// The requested purchases that accounts are about to make, by account.
  var requested: [String: PlayPurchase] = [:]
  /// The accounts whose purchase was begun. Other changes by the same payment belong to that purchase.
  var begun: Set<String> = []

  mutating func follow() async throws {
    while true {
      let header = try await ledger.header()
      let events = try await ledger.store.notifications(after: header.followed)
      if events.isEmpty { return }
      for event in events {
        var change = PlayLedger.Change(try await ledger.header())
        change.header.followed = event.number
        if let transaction = try Self.transaction(of: event),
          transaction.inAppOwnershipType != .familyShared
        {
          try await follow(event, transaction, &change)
        }
        try await ledger.commit(change)
      }
    }
  }

  private static func transaction(of event: SignedNotification) throws(MalformedReceipt) -> JWSTransaction? {
    guard case .notification(let notification) = try payload(event.signedPayload),
      let signed = notification.data?.signedTransactionInfo,
      case .transaction(let transaction) = try payload(signed)
    else { return nil }
    return transaction
  }

  private static func payload(_ jws: String) throws(MalformedReceipt) -> JWSPayload {
    try UnverifiedJWS(parsing: Array(jws.utf8)).decoded().content
  }

  private mutating func follow(
    _ event: SignedNotification, _ transaction: JWSTransaction, _ change: inout PlayLedger.Change
  ) async throws {
    // The engine gives events of the same millisecond ascending dates; a message must not be dated in the future.
    let date = min(event.signedDate, now)
    guard let original = transaction.originalTransactionId else { return }
    guard event.type != .oneTimeCharge else {
      let purchase = try await begin(transaction, event, linked: nil, &change)
      return post(1, of: purchase, at: date, &change)
    }
    guard event.type != .refund else { return try await void(transaction, at: date, &change) }
    let current = try await ledger.purchase(.current(original))
    guard var purchase = current, event.type != .subscribed else {
      guard event.type == .subscribed || event.type == .didRenew else { return }
      return try await replace(current, transaction, event, at: date, &change)
    }
    let wasSuspended = purchase.isPaused || purchase.lastNotification == 5
    if [.didRenew, .didFailToRenew, .expired].contains(event.type) { purchase.endPause() }
    switch (event.type, event.subtype) {
    case (.didRenew, _):
      change.addOrder(
        of: transaction.transactionId, at: date, until: transaction.expiresDate, to: &purchase)
      post(wasSuspended ? 1 : 2, of: purchase, at: date, &change)
    case (.didFailToRenew, .gracePeriod?): post(6, of: purchase, at: date, &change)
    case (.didFailToRenew, _), (.gracePeriodExpired, _): post(5, of: purchase, at: date, &change)
    case (.didChangeRenewalPref, .upgrade?), (.offerRedeemed, .upgrade?),
      (.didChangeRenewalPref, .downgrade?), (.offerRedeemed, .downgrade?):
      guard !begun.contains(event.account) else { break }
      try await replace(purchase, transaction, event, at: date, &change)
    case (.didChangeRenewalStatus, .autoRenewEnabled?):
      // A subscription from the app begins another purchase; one that the customer resumes in the Play Store does not.
      guard requested[event.account] == nil else {
        return try await replace(purchase, transaction, event, at: date, &change)
      }
      purchase.cancel(by: nil, at: nil)
      post(7, of: purchase, at: date, &change)
    case (.didChangeRenewalStatus, _):
      let isNew = purchase.canceller == nil || purchase.cancellationDate != nil
      purchase.cancel(by: isNew ? .user : purchase.canceller, at: date)
      let end = purchase.pauseDate
      purchase.endPause()
      post(3, of: purchase, at: date, &change)
      if let end { try await ledger.store.perform(.postpone(original, to: end)) }
    case (.expired, let subtype):
      if subtype != .voluntary {
        purchase.cancel(by: .system, at: date)
        // The end of account hold cancels the subscription before it expires.
        if subtype == .billingRetry { post(3, of: purchase, at: date, &change) }
      }
      post(13, of: purchase, at: date, &change)
    case (.priceIncrease, _): post(19, of: purchase, at: date, &change)
    case (.renewalExtended, _):
      // Planning or ending a pause also postpones the renewal. A planned pause, or its end before it began, is
      // announced as a changed pause schedule (11); any other extension as a deferral (9).
      guard try await ledger.store.subscription(original)?.autoRenews == true, !purchase.isPaused else {
        break
      }
      let isPlanned = purchase.pauseDate != nil
      if purchase.pauseDate == purchase.resumeDate { purchase.endPause() }
      post(isPlanned ? 11 : 9, of: purchase, at: date, &change)
    default: break
    }
  }

  /// Begins another purchase of a subscription, in place of the present one if there is one.
  private mutating func replace(
    _ current: PlayPurchase?, _ transaction: JWSTransaction, _ event: SignedNotification, at date: Timestamp,
    _ change: inout PlayLedger.Change
  ) async throws {
    var link: String?
    if let current { link = try await supersede(current, at: date, &change) }
    post(4, of: try await begin(transaction, event, linked: link, &change), at: date, &change)
  }

  /// Begins the purchase of a transaction. The purchase has an uncharged order if the transaction belongs to another
  /// purchase.
  private mutating func begin(
    _ transaction: JWSTransaction, _ event: SignedNotification, linked: String?,
    _ change: inout PlayLedger.Change
  ) async throws -> PlayPurchase {
    let identifier = transaction.transactionId ?? ""
    let sale = try await ledger.store.purchase(identifier)?.transaction
    var purchase: PlayPurchase
    if let known = requested.removeValue(forKey: event.account) {
      purchase = known
      begun.insert(event.account)
    } else if let request = sale?.requestIdentifier,
      let known = try await ledger.purchase(.request(account: event.account, id: request)),
      known.state == .requested || known.state == .pending
    {
      purchase = known
    } else {
      purchase = PlayPurchase()
      purchase.token = PlayLedger.newToken()
      purchase.account = event.account
      purchase.isTest = isTest
      purchase.obfuscatedAccountId = sale?.payment.applicationUsername
      purchase.productId = transaction.productId ?? ""
    }
    let isCharged = try await ledger.purchase(.transaction(identifier)) == nil
    purchase.state = .purchased
    purchase.isSubscription = transaction.type == .autoRenewableSubscription
    purchase.originalTransactionId = transaction.originalTransactionId
    purchase.purchaseDate = event.signedDate
    purchase.quantity = transaction.quantity ?? 1
    purchase.linkedToken = linked
    purchase.acknowledgementDeadline = event.signedDate.addingSeconds(
      EmulatedPlayStore.acknowledgementDays * 86_400)
    change.addOrder(
      of: isCharged ? identifier : nil, at: event.signedDate, until: transaction.expiresDate, to: &purchase)
    if purchase.isSubscription, let original = transaction.originalTransactionId {
      change.name(purchase, .current(original))
    }
    change.put(purchase)
    return purchase
  }

  /// Ends a purchase whose subscription continues, or starts again, as another purchase.
  ///
  /// - Returns: The purchase's token, which the new purchase links to; `nil` if the subscription had lapsed.
  private func supersede(
    _ previous: PlayPurchase, at date: Timestamp, _ change: inout PlayLedger.Change
  ) async throws -> String? {
    var purchase = previous
    let isLapsed = [12, 13].contains(purchase.lastNotification)
    purchase.endDate = date
    purchase.acknowledgementDeadline = nil
    purchase.endPause()
    if isLapsed {
      if let paid = purchase.paidOrders.last?.transactionId,
        let last = try await ledger.store.purchase(paid)?.current
      {
        purchase.endDate = [last.revocationDate, last.expiresDate].compactMap(\.self).min() ?? date
      }
    } else {
      purchase.cancel(by: .replacement, at: date)
    }
    change.put(purchase)
    return isLapsed ? nil : purchase.token
  }

  /// Voids the order of a refunded transaction.
  private func void(
    _ transaction: JWSTransaction, at date: Timestamp, _ change: inout PlayLedger.Change
  ) async throws {
    let identifier = transaction.transactionId ?? ""
    guard var purchase = try await ledger.purchase(.transaction(identifier)),
      let index = purchase.orders.firstIndex(where: { $0.transactionId == identifier })
    else { return }
    let source = purchase.orders[index].voidedSource ?? 0
    purchase.orders[index].voidedSource = source
    purchase.orders[index].refundDate = date
    let order = purchase.orders[index]
    let voided = PlayVoidedPurchase().with {
      $0.token = purchase.token
      $0.orderId = order.orderId
      $0.purchaseDate = order.date
      $0.voidedDate = date
      $0.source = source
      $0.reason = order.voidedReason ?? 0
      $0.isSubscription = purchase.isSubscription
    }
    change.header.voidedCount += 1
    change.records.append(
      .put(
        .playVoided, key: StoreKey.dated(date, change.header.voidedCount), value: voided.encodedJSON()))
    change.put(purchase)
    if purchase.isSubscription, let original = purchase.originalTransactionId,
      try await ledger.store.subscription(original)?.transaction.transactionId == identifier,
      var current = try await ledger.purchase(.current(original))
    {
      if current.token == purchase.token { current = purchase }
      current.cancel(by: [.user, .developer, .system][min(2, max(0, Int(source)))], at: date)
      current.acknowledgementDeadline = nil
      post(12, of: current, at: date, &change)
    } else if !purchase.isSubscription {
      purchase.acknowledgementDeadline = nil
      change.put(purchase)
    }
    publish(
      "voidedPurchaseNotification",
      [
        "purchaseToken": purchase.token, "orderId": voided.orderId,
        "productType": purchase.isSubscription ? 1 : 2, "refundType": 1,
      ],
      at: date, &change)
  }

  /// Publishes a notification about a purchase, and stores the purchase.
  func post(_ type: Int64, of purchase: PlayPurchase, at date: Timestamp, _ change: inout PlayLedger.Change) {
    var purchase = purchase
    purchase.lastNotification = type
    change.put(purchase)
    publish(
      purchase.isSubscription ? "subscriptionNotification" : "oneTimeProductNotification",
      [
        "version": "1.0", "notificationType": type, "purchaseToken": purchase.token,
        purchase.isSubscription ? "subscriptionId" : "sku": purchase.productId,
      ],
      at: date, &change)
  }

  func publish(
    _ member: String, _ content: JSONMembers, at date: Timestamp, _ change: inout PlayLedger.Change
  ) {
    change.header.messageCount += 1
    var message = PlayMessage(member, content, of: packageName, at: date)
    message.number = change.header.messageCount
    message.duplicates = change.header.duplicates
    if pushes {
      message.nextAttempt = date
      change.records.append(.put(.playDueMessages, key: StoreKey.dated(date, message.number), value: []))
    }
    change.records.append(
      .put(.playMessages, key: StoreKey.number(message.number), value: message.encodedJSON()))
  }
}
