// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The operator's interface. Each operation returns the notifications that it produced; they are also in the outbox.
extension LocalStore {
  /// A change without effect. It makes a commit write the store's header, which contains prices, for example.
  private static let nothing = RecordChange.remove(.storeHeader, key: "nothing")

  /// Performs everything that is due, and then an operation, whose changes are made in one commit.
  func operate(
    _ body: (inout SubscriptionEngine, Timestamp) throws(SubscriptionError) -> [StoreEvent]
  ) throws(LocalStoreError) -> [SignedNotification] {
    let now = try catchUp()
    return try change { engine, change throws(LocalStoreError) in
      let events: [StoreEvent]
      do throws(SubscriptionError) { events = try body(&engine, now) } catch { throw LocalStoreError(error) }
      try record(events, in: &change)
      if change.records.isEmpty { change.records.append(Self.nothing) }
      return change.notifications
    }
  }

  /// Performs a change by a customer or the vendor.
  ///
  /// - Returns: The notifications that ``SubscriptionChange`` documents.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func perform(_ change: SubscriptionChange) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in try engine.perform(change, at: now) }
  }

  /// Posts a notification about a subscription after a change to it, as for a call of the Advanced Commerce API.
  package func report(
    _ type: NotificationType, of originalTransactionIdentifier: String, renewingTo product: String? = nil,
    price: Int64? = nil
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      engine.report(type, of: originalTransactionIdentifier, at: now) { subscription in
        if let product { subscription.autoRenewProductIdentifier = product }
        if let price { subscription.renewalPrice = price }
      }
    }
  }
}
