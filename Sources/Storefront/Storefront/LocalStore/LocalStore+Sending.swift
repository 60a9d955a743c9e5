// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import ReceiptSigning

/// Sends notifications to the developer's server.
extension LocalStore {
  /// Sets whether attempts are planned for new notifications.
  package func setSendsNotifications(_ sends: Bool) { sendsNotifications = sends }

  /// The first notification whose next attempt is due.
  package func dueNotification(
    at now: Timestamp
  ) throws(LocalStoreError) -> SentNotification? {
    guard let due = try firstDue(), due.date <= now else { return nil }
    guard let notification = try notification(due.number) else {
      throw LocalStoreError(.corrupt, at: "store-outbox/\(due.number)", "The notification is not stored.")
    }
    return SentNotification(
      dueDate: due.date, notification: notification, delivery: try delivery(of: due.number))
  }

  /// The date of the next attempt to send a notification, if there is one.
  package func nextDeliveryDate() throws(LocalStoreError) -> Timestamp? { try firstDue()?.date }

  private func firstDue() throws(LocalStoreError) -> (date: Timestamp, number: Int64)? {
    guard let key = try durable.records(in: .storeDueDeliveries, after: nil, limit: 1).first?.key
    else { return nil }
    let parts = key.split(separator: "/").compactMap { Int64($0) }
    guard parts.count == 2 else {
      throw LocalStoreError(.corrupt, at: "store-due-deliveries/\(key)", "It is no date and number.")
    }
    return (Timestamp(millisecondsSince1970: Double(parts[0])), parts[1])
  }

  /// The attempts to send a notification so far.
  package func delivery(of number: Int64) throws(LocalStoreError) -> DeliveryRecord {
    try durable.row(StoreKey.number(number), in: .storeDeliveries) ?? DeliveryRecord()
  }

  /// Records an attempt to send a notification. `result` is Apple's `sendAttemptResult`. `next` is the date of the
  /// next attempt, or `nil` after the last one.
  package func recordAttempt(
    of due: SentNotification, at date: Timestamp, result: String, next: Timestamp?
  ) throws(LocalStoreError) {
    let number = due.notification.number
    var delivery = due.delivery
    var attempt = DeliveryRecord.Attempt()
    attempt.attemptDate = date
    attempt.sendAttemptResult = result
    delivery.attempts.append(attempt)
    delivery.nextAttempt = next
    var changes: [RecordChange] = [
      .put(.storeDeliveries, key: StoreKey.number(number), value: delivery.encodedJSON()),
      .remove(.storeDueDeliveries, key: StoreKey.dated(due.dueDate ?? date, number)),
    ]
    if let next {
      changes.append(.put(.storeDueDeliveries, key: StoreKey.dated(next, number), value: []))
    }
    try commit(changes)
  }

  /// A notification, and the attempts to send it.
  package struct SentNotification: Sendable {
    /// The date of the next attempt, if the notification is due.
    package var dueDate: Timestamp?
    package let notification: SignedNotification
    package let delivery: DeliveryRecord
  }

  /// The notifications that were signed in a range of dates, with the attempts to send them, and a flag that indicates
  /// whether more follow. For a later page, `last` is the last notification of the page before.
  package func notifications(
    signedIn dates: Range<Timestamp>, after last: (date: Timestamp, number: Int64)?, limit: Int,
    where accepts: @Sendable (SignedNotification, DeliveryRecord) -> Bool
  ) throws(LocalStoreError) -> (items: [SentNotification], hasMore: Bool) {
    try catchUp()
    let end = StoreKey.dated(dates.upperBound, 0)
    var key = last.map { StoreKey.dated($0.date, $0.number) } ?? StoreKey.dated(dates.lowerBound, 0)
    var items: [SentNotification] = []
    while true {
      let page = try durable.records(in: .storeOutboxDates, after: key)
      for record in page {
        guard record.key < end else { return (items, false) }
        key = record.key
        guard let number = record.key.split(separator: "/").last.flatMap({ Int64($0) }),
          let notification = try notification(number)
        else { continue }
        let delivery = try delivery(of: number)
        guard accepts(notification, delivery) else { continue }
        guard items.count < limit else { return (items, true) }
        items.append(SentNotification(notification: notification, delivery: delivery))
      }
      if page.count < StoredRecords.pageSize { return (items, false) }
    }
  }

  /// The time of the last event. The store's time never goes back behind it.
  package func lastEventDate() throws(LocalStoreError) -> Timestamp { try read { $0.ledger.time } }

  /// The number of the last notification.
  package func eventCount() throws(LocalStoreError) -> Int64 { try read { $0.ledger.eventCount } }

  /// Signs a notification that is not about one purchase, such as `TEST`, and puts it into the outbox. The store sets
  /// its UUID, date and version.
  @discardableResult
  package func post(_ notification: Notification) throws(LocalStoreError) -> SignedNotification {
    let now = try catchUp()
    return try change { engine, change throws(LocalStoreError) in
      var notification = notification
      notification.notificationUUID = engine.nextUUID()
      notification.version = "2.0"
      notification.signedDate = now
      let posted = try signed(notification, number: engine.ledger.eventCount, about: "")
      post(posted, in: &change)
      return posted
    }
  }

  /// Imports a notification that was sent elsewhere, about a transaction and its original transaction.
  package func add(
    _ notification: Notification, about transactions: [String], attempts: [DeliveryRecord.Attempt]
  ) throws(LocalStoreError) {
    try change { engine, change throws(LocalStoreError) in
      let uuid = engine.nextUUID()
      var notification = notification
      notification.notificationUUID = notification.notificationUUID ?? uuid
      notification.signedDate = notification.signedDate ?? clock()
      let added = try signed(
        notification, number: engine.ledger.eventCount, about: transactions.first ?? "",
        original: transactions.dropFirst().first ?? transactions.first ?? "")
      var delivery = DeliveryRecord()
      delivery.attempts = attempts
      put(added, in: &change)
      change.records.append(
        .put(.storeDeliveries, key: StoreKey.number(added.number), value: delivery.encodedJSON()))
    }
  }

  private func signed(
    _ notification: Notification, number: Int64, about transaction: String, original: String? = nil
  ) throws(LocalStoreError) -> SignedNotification {
    var signed = SignedNotification()
    signed.number = number
    signed.type = notification.notificationType ?? NotificationType(rawValue: "")
    signed.subtype = notification.subtype
    signed.uuid = notification.notificationUUID ?? UUIDString(rawValue: "")
    signed.signedDate = notification.signedDate ?? clock()
    signed.transactionIdentifier = transaction
    signed.originalTransactionIdentifier = original ?? transaction
    signed.signedPayload = try LocalStoreError.signing(try signer.sign(notification))
    return signed
  }
}
