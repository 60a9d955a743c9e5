// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

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
    var found: [SignedNotification] = []
    for record in try durable.records(in: .storeOutbox, after: StoreKey.number(max(0, number)), limit: limit)
    {
      found.append(try notification(record.value, at: "store-outbox/\(record.key)"))
    }
    return found
  }

  /// The notification with this number; `nil` if it does not exist.
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
}
