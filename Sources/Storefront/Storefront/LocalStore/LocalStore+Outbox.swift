// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptSigning

/// Notifications, and the events over time that produce them.
extension LocalStore {
  private static let deliveredKey = "delivered"

  /// The notifications after a number, oldest first, at most `limit`. They are never removed.
  public func notifications(
    after number: Int64 = 0, limit: Int = 256
  ) throws(LocalStoreError) -> [SignedNotification] {
    try catchUp()
    return try outbox(after: number, limit: max(1, limit))
  }

  private func outbox(after number: Int64, limit: Int) throws(LocalStoreError) -> [SignedNotification] {
    let key = StoreKey.number(max(0, number))
    return try durable.records(in: .storeOutbox, after: key, limit: limit)
      .map { (record) throws(LocalStoreError) in
        try notification(record.value, at: "store-outbox/\(record.key)")
      }
  }

  func notification(_ number: Int64) throws(LocalStoreError) -> SignedNotification? {
    let key = StoreKey.number(number)
    guard let record = try durable.value(of: key, in: .storeOutbox) else { return nil }
    return try notification(record, at: "store-outbox/\(key)")
  }

  private func notification(
    _ record: [UInt8], at place: String
  ) throws(LocalStoreError) -> SignedNotification {
    let (json, packed) = PackedText.split(record)
    var notification: SignedNotification = try StoredRecords.decode(json, at: place)
    guard let packed else { return notification }
    let receipt = try sale(notification.transactionIdentifier)?.receipt
    notification.signedPayload = try unpack(packed, known: receipt.map { Array($0.utf8) }, at: place)
    return notification
  }

  /// Delivers pending notifications to the sink. At most one task does so at a time, to keep their order.
  func deliver() {
    guard let sink = options.sink, !isDelivering else { return }
    isDelivering = true
    // Delivery is retried with the next notification, and at the next launch.
    Task { try? await deliverAll(to: sink) }
  }

  private func deliverAll(to sink: @Sendable (SignedNotification) async -> Void) async throws {
    defer { isDelivering = false }
    while true {
      let delivered =
        try durable.value(of: Self.deliveredKey, in: .storeHeader)
        .flatMap { Int64(String(decoding: $0, as: UTF8.self)) } ?? 0
      let waiting = try outbox(after: delivered, limit: 64)
      guard let last = waiting.last else { return }
      for notification in waiting { await sink(notification) }
      try commit([.put(.storeHeader, key: Self.deliveredKey, value: Array(String(last.number).utf8))])
    }
  }

  /// The date of the next due event, such as a renewal or the end of a grace period; `nil` if nothing is due.
  package func nextDueDate() throws(LocalStoreError) -> Timestamp? { try loaded().nextDueDate }

  /// Performs everything that is due up to an instant, each event at its own time. Every call performs what is due up
  /// to the present; use this one for simulated time. Receipts signed for a future time do not verify before it.
  public func advance(to instant: Timestamp) throws(LocalStoreError) { try catchUp(to: instant) }

  /// Performs events as they become due, until the task is cancelled. Otherwise a store catches up at the next call.
  public func run() async throws(LocalStoreError) {
    deliver()
    while !Task.isCancelled {
      let now = clock()
      try catchUp(to: now)
      // At most one hour, because the clock may be changed meanwhile.
      let wait = try nextDueDate().map { $0.millisecondsSince1970 - now.millisecondsSince1970 } ?? 3_600_000
      let sleep = options.sleep
      let sleeper = Task<Void, Never> {
        try? await sleep(.milliseconds(Int64(min(max(wait, 1), 3_600_000).rounded(.up))))
      }
      self.sleeper = sleeper
      await withTaskCancellationHandler {
        await sleeper.value
      } onCancel: {
        sleeper.cancel()
      }
    }
  }

  // MARK: Sending to the developer's server

  package func setSendsNotifications(_ sends: Bool) { sendsNotifications = sends }

  /// The first notification whose next attempt is due.
  package func dueNotification(at now: Timestamp) throws(LocalStoreError) -> SentNotification? {
    guard let due = try firstDue(), due.date <= now else { return nil }
    guard let notification = try notification(due.number) else {
      throw LocalStoreError(.corrupt, at: "store-outbox/\(due.number)", "The notification is not stored.")
    }
    return SentNotification(
      dueDate: due.date, notification: notification, delivery: try delivery(of: due.number))
  }

  package func nextDeliveryDate() throws(LocalStoreError) -> Timestamp? { try firstDue()?.date }

  private func firstDue() throws(LocalStoreError) -> (date: Timestamp, number: Int64)? {
    guard let key = try durable.records(in: .storeDueDeliveries, after: nil, limit: 1).first?.key
    else { return nil }
    let parts = key.split(separator: "/").compactMap { Int64($0) }
    try LocalStoreError.require(
      parts.count == 2, .corrupt, at: "store-due-deliveries/\(key)", "It is no date and number.")
    return (Timestamp(millisecondsSince1970: Double(parts[0])), parts[1])
  }

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
    delivery.attempts.append(DeliveryRecord.Attempt(attemptDate: date, sendAttemptResult: result))
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
      let delivery = DeliveryRecord(attempts: attempts)
      put(added, in: &change)
      change.records.append(
        .put(.storeDeliveries, key: StoreKey.number(added.number), value: delivery.encodedJSON()))
    }
  }

  private func signed(
    _ notification: Notification, number: Int64, about transaction: String, original: String? = nil
  ) throws(LocalStoreError) -> SignedNotification {
    SignedNotification(
      number: number, type: notification.notificationType ?? NotificationType(rawValue: ""),
      subtype: notification.subtype, uuid: notification.notificationUUID ?? UUIDString(rawValue: ""),
      signedDate: notification.signedDate ?? clock(), transactionIdentifier: transaction,
      originalTransactionIdentifier: original ?? transaction,
      signedPayload: try LocalStoreError.signing(try signer.sign(notification)))
  }
}
