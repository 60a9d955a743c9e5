// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
package import ReceiptCodec

/// The operator's interface. Each operation returns the notifications that it produced; they are also in the outbox.
extension LocalStore {
  /// A change without effect: it makes a commit write the store's own record, which holds prices, for example.
  static let nothing = RecordChange.remove(.storeHeader, key: "nothing")

  /// Performs everything that is due, and then an operation, in one commit.
  func operate(
    sharedFrom shared: String? = nil,
    _ body: (inout SubscriptionEngine, Timestamp) throws(SubscriptionError) -> [StoreEvent]
  ) throws(LocalStoreError) -> [SignedNotification] {
    let now = clock()
    try catchUp(to: now)
    return try change { engine, change throws(LocalStoreError) in
      let events: [StoreEvent]
      do throws(SubscriptionError) { events = try body(&engine, now) } catch { throw LocalStoreError(error) }
      try record(events, in: &change, sharedFrom: shared)
      if change.records.isEmpty { change.records.append(Self.nothing) }
      return change.notifications
    }
  }

  /// Switches renewal of a subscription on or off.
  ///
  /// - Parameters:
  ///   - isOn: Whether it renews at the end of the period.
  ///   - originalTransactionIdentifier: The subscription.
  /// - Returns: `DID_CHANGE_RENEWAL_STATUS`; nothing if the state does not change.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func setAutoRenew(
    _ isOn: Bool, of originalTransactionIdentifier: String
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.setAutoRenew(isOn, of: originalTransactionIdentifier, at: now)
    }
  }

  /// Changes the product from the next renewal on; an upgrade takes effect at once.
  ///
  /// - Parameters:
  ///   - originalTransactionIdentifier: The subscription.
  ///   - productIdentifier: Another product of its group, or its own to cancel a downgrade.
  /// - Returns: `DID_CHANGE_RENEWAL_PREF`.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func changeRenewal(
    of originalTransactionIdentifier: String, to productIdentifier: String
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.changeRenewal(of: originalTransactionIdentifier, to: productIdentifier, at: now)
    }
  }

  /// Charges for a renewal now: before it is due, or after it failed.
  ///
  /// - Returns: `DID_RENEW`.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func renewNow(
    _ originalTransactionIdentifier: String
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.renewNow(originalTransactionIdentifier, at: now)
    }
  }

  /// Moves the end of a period by 1 to 90 days.
  ///
  /// - Returns: `RENEWAL_EXTENDED`.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func extend(
    _ originalTransactionIdentifier: String, byDays days: Int
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.extend(originalTransactionIdentifier, byDays: days, at: now)
    }
  }

  /// Moves the ends of all paid periods of a product by 1 to 90 days.
  ///
  /// - Parameters:
  ///   - productIdentifier: The product.
  ///   - days: How many days.
  ///   - storefronts: Those of the customers, three letters of ISO 3166-1; `nil` for all.
  /// - Returns: `RENEWAL_EXTENDED` for each subscription, and `RENEWAL_EXTENSION` `FAILURE` for each that cannot be
  ///   extended.
  /// - Throws: ``LocalStoreError`` with `storage`.
  package func extendAll(
    of productIdentifier: String, byDays days: Int, in storefronts: Set<String>?
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      engine.extendAll(of: productIdentifier, byDays: days, in: storefronts, at: now)
    }
  }

  /// Notifies about a subscription after changing it, as for a call of the Advanced Commerce API.
  ///
  /// - Throws: ``LocalStoreError`` with `storage`.
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

  /// Changes the price of a subscription: for new customers at once, for others from their next renewal on.
  ///
  /// - Parameters:
  ///   - productIdentifier: The product.
  ///   - price: The new price, with at most three decimal places.
  ///   - needsConsent: Whether existing customers must agree; otherwise they are only informed.
  /// - Returns: `PRICE_INCREASE` for each.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func changePrice(
    of productIdentifier: String, to price: Decimal, needsConsent: Bool
  ) throws(LocalStoreError) -> [SignedNotification] {
    guard let milliunits = Milliunits.of(price) else {
      throw LocalStoreError(
        .refused, at: productIdentifier, "The price is negative, or too great to be stated.")
    }
    return try operate { engine, now throws(SubscriptionError) in
      try engine.changePrice(of: productIdentifier, to: milliunits, needsConsent: needsConsent, at: now)
    }
  }

  /// Records the customer's answer to a price increase.
  ///
  /// - Returns: `PRICE_INCREASE` `ACCEPTED`, or `DID_CHANGE_RENEWAL_STATUS`.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func answerPriceIncrease(
    of originalTransactionIdentifier: String, consents: Bool
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.answerPriceIncrease(of: originalTransactionIdentifier, consents: consents, at: now)
    }
  }

  /// Removes a product from sale, or offers it again. Subscriptions to a removed product expire at their next renewal.
  ///
  /// - Throws: ``LocalStoreError`` with `not-found`.
  public func setForSale(_ isForSale: Bool, _ productIdentifier: String) throws(LocalStoreError) {
    _ = try operate { engine, _ throws(SubscriptionError) in
      try engine.setForSale(isForSale, productIdentifier)
      return []
    }
  }

  /// Makes charges for renewals of an account fail, or succeed again.
  ///
  /// - Throws: ``LocalStoreError`` with `storage`.
  public func setBillingIssue(_ isPresent: Bool, of account: String) throws(LocalStoreError) {
    _ = try operate { engine, _ throws(SubscriptionError) in
      engine.setBillingIssue(isPresent, of: account)
      return []
    }
  }
}
