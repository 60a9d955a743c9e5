// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptCodec

/// The operator's interface. Each operation returns the notifications that it made; they are in the outbox, too.
extension LocalStore {
  /// Has the store's own record written though no other was changed: a price is there, for example.
  static let nothing = RecordChange.remove(.storeHeader, key: "nothing")

  /// Lets everything that is due happen, and then an operation, in one commit.
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
  /// - Returns: `DID_CHANGE_RENEWAL_STATUS`; nothing where it is so already.
  /// - Throws: ``LocalStoreError`` with `not-found` or `refused`.
  @discardableResult
  public func setAutoRenew(
    _ isOn: Bool, of originalTransactionIdentifier: String
  ) throws(LocalStoreError) -> [SignedNotification] {
    try operate { engine, now throws(SubscriptionError) in
      try engine.setAutoRenew(isOn, of: originalTransactionIdentifier, at: now)
    }
  }

  /// Chooses the product of the next renewal, or of now where that is an upgrade.
  ///
  /// - Parameters:
  ///   - originalTransactionIdentifier: The subscription.
  ///   - productIdentifier: Another product of its group, or its own to take a downgrade back.
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

  /// Charges for a renewal now: ahead of time, or though it failed before.
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

  /// Raises or lowers the price of a subscription: for new customers at once, for others from their next renewal on.
  ///
  /// - Parameters:
  ///   - productIdentifier: The product.
  ///   - price: The new price, to thousandths.
  ///   - needsConsent: Whether present customers must agree; else they are informed.
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

  /// The customer's answer to a higher price.
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

  /// Takes a product from sale, or offers it again. Subscriptions to it expire at their next renewal.
  ///
  /// - Throws: ``LocalStoreError`` with `not-found`.
  public func setForSale(_ isForSale: Bool, _ productIdentifier: String) throws(LocalStoreError) {
    _ = try operate { engine, _ throws(SubscriptionError) in
      try engine.setForSale(isForSale, productIdentifier)
      return []
    }
  }

  /// Says that renewals of an account cannot be charged for, or that they can be again.
  ///
  /// - Throws: ``LocalStoreError`` with `storage`.
  public func setBillingIssue(_ isPresent: Bool, of account: String) throws(LocalStoreError) {
    _ = try operate { engine, _ throws(SubscriptionError) in
      engine.setBillingIssue(isPresent, of: account)
      return []
    }
  }
}
