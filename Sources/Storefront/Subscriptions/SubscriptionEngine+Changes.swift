// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What customers and the vendor change about a subscription.
extension SubscriptionEngine {
  /// The subscription, if it is the customer's own and not over.
  func current(_ originalTransactionIdentifier: String, at now: Timestamp) throws(SubscriptionError)
    -> Subscription
  {
    guard let subscription = all[originalTransactionIdentifier] else {
      throw SubscriptionError(
        .unknownSubscription, at: originalTransactionIdentifier,
        "There is no subscription of this original transaction.")
    }
    guard !subscription.isFamilyShared else {
      throw SubscriptionError(
        .familyShared, at: originalTransactionIdentifier,
        "Another member of the family pays for it: change that one's, \(subscription.sharedFrom ?? "").")
    }
    guard subscription.isCurrent(at: now) else {
      throw SubscriptionError(
        .notActive, at: originalTransactionIdentifier,
        "It is \(subscription.status(at: now).rawValue). The customer must subscribe again.")
    }
    return subscription
  }

  /// The subscription, if it is the customer's own and its present period has been paid for.
  private func paid(_ originalTransactionIdentifier: String, at now: Timestamp) throws(SubscriptionError)
    -> Subscription
  {
    let subscription = try current(originalTransactionIdentifier, at: now)
    guard subscription.status(at: now) == .active else {
      throw SubscriptionError(
        .notActive, at: originalTransactionIdentifier, "The renewal has not been paid for.")
    }
    return subscription
  }

  /// Switches renewal on or off. Off while the store still tries to charge, the subscription expires.
  ///
  /// - Returns: `DID_CHANGE_RENEWAL_STATUS`; nothing where it is so already.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared` or `not-active`.
  public mutating func setAutoRenew(
    _ isOn: Bool, of originalTransactionIdentifier: String, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    var subscription = try current(originalTransactionIdentifier, at: now)
    if isOn {
      enableRenewal(of: &subscription, at: now)
    } else if subscription.autoRenews {
      let wasUnpaid = subscription.isInBillingRetry
      disableRenewal(of: &subscription, at: now)
      if wasUnpaid { expire(&subscription, .cancelled, .voluntary, at: now) }
    }
    return finish()
  }

  /// Chooses the product of the next renewal, or of now where that is an upgrade: as a payment does.
  ///
  /// - Returns: `DID_CHANGE_RENEWAL_PREF`, of the subtype that the change has.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared`, `not-active`, or `not-eligible` for
  ///   a product that is not for sale or of another group.
  public mutating func changeRenewal(
    of originalTransactionIdentifier: String, to productIdentifier: String, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    var subscription = try paid(originalTransactionIdentifier, at: now)
    guard let product = product(productIdentifier), let terms = product.subscription, product.isForSale,
      let price = price(of: productIdentifier), terms.groupIdentifier == subscription.groupIdentifier
    else {
      throw SubscriptionError(
        .notEligible, at: productIdentifier, "It is not for sale, or not in the group of the subscription.")
    }
    if productIdentifier == subscription.productIdentifier {
      if subscription.autoRenewProductIdentifier != productIdentifier {
        takeDowngradeBack(of: &subscription, at: now)
      }
      return finish()
    }
    do throws(StoreError) {
      return try change(&subscription, to: product, terms, price: price, redeeming: nil, at: now).events
    } catch {
      throw SubscriptionError(.notEligible, at: productIdentifier, error.message)
    }
  }

  /// Raises or lowers the price of a product. New customers pay it at once, present ones from their next renewal on.
  ///
  /// - Parameters:
  ///   - productIdentifier: An auto-renewable subscription.
  ///   - price: The new price, times 1000.
  ///   - needsConsent: Whether present customers must agree; else they are informed.
  ///   - instant: When.
  /// - Returns: `PRICE_INCREASE` for each that renews to the product: `PENDING` or `ACCEPTED`. None for a lower price.
  /// - Throws: ``SubscriptionError`` with `unknown-product` or `invalid-value`.
  public mutating func changePrice(
    of productIdentifier: String, to price: Int64, needsConsent: Bool, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    guard products[productIdentifier] != nil else {
      throw SubscriptionError(.unknownProduct, at: productIdentifier, "There is no such product.")
    }
    guard 0...9_000_000_000_000_000 ~= price else {
      throw SubscriptionError(.invalidValue, at: productIdentifier, "The price is out of bounds.")
    }
    ledger.prices.removeAll { $0.productIdentifier == productIdentifier }
    var changed = EngineLedger.ProductPrice()
    changed.productIdentifier = productIdentifier
    changed.price = price
    ledger.prices.append(changed)
    // In order of their identifiers: a dictionary's own order is another each time.
    for id in all.keys.sorted() {
      guard var subscription = all[id], subscription.autoRenewProductIdentifier == productIdentifier,
        !subscription.isFamilyShared, subscription.autoRenews, subscription.isCurrent(at: now)
      else { continue }
      guard price > subscription.renewalPrice else {
        subscription.renewalPrice = price
        subscription.increasedPrice = nil
        subscription.priceIncreaseStatus = nil
        store(subscription)
        continue
      }
      subscription.increasedPrice = price
      subscription.priceIncreaseStatus = needsConsent ? .noResponse : .consented
      let stamp = Self.stamp(&subscription, at: now)
      emit(.priceIncrease, needsConsent ? .pending : .accepted, of: &subscription, at: stamp)
    }
    return finish()
  }

  /// The customer's answer to a higher price. Who refuses keeps the subscription to the end of the period.
  ///
  /// - Returns: `PRICE_INCREASE` `ACCEPTED`, or `DID_CHANGE_RENEWAL_STATUS` `AUTO_RENEW_DISABLED`.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared`, `not-active`, or `not-eligible` when
  ///   no answer is wanted.
  public mutating func answerPriceIncrease(
    of originalTransactionIdentifier: String, consents: Bool, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    var subscription = try current(originalTransactionIdentifier, at: now)
    guard subscription.priceIncreaseStatus == .noResponse else {
      throw SubscriptionError(
        .notEligible, at: originalTransactionIdentifier, "No answer to a higher price is wanted.")
    }
    if consents {
      subscription.priceIncreaseStatus = .consented
      let stamp = Self.stamp(&subscription, at: now)
      emit(.priceIncrease, .accepted, of: &subscription, at: stamp)
    } else {
      subscription.hasRefusedPrice = true
      disableRenewal(of: &subscription, at: now)
    }
    return finish()
  }

  /// Moves the end of the present period, as the vendor's compensation.
  ///
  /// - Parameters:
  ///   - originalTransactionIdentifier: The subscription.
  ///   - days: 1 to 90.
  ///   - instant: When.
  /// - Returns: `RENEWAL_EXTENDED`.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared`, `not-active`, `invalid-value`, or
  ///   `not-eligible`: never paid, in a free offer, or extended twice within 365 days.
  public mutating func extend(
    _ originalTransactionIdentifier: String, byDays days: Int, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    var subscription = try paid(originalTransactionIdentifier, at: now)
    guard 1...90 ~= days else {
      throw SubscriptionError(
        .invalidValue, at: originalTransactionIdentifier, "A subscription is extended by 1 to 90 days.")
    }
    guard subscription.hasPaid, subscription.transaction.offerDiscountType != .freeTrial else {
      throw SubscriptionError(
        .notEligible, at: originalTransactionIdentifier, "What was never paid for cannot be extended.")
    }
    let year = options.calendar.adding(days: -365, to: now)
    subscription.extensionDates.removeAll { $0 <= year }
    guard subscription.extensionDates.count < 2 else {
      throw SubscriptionError(
        .notEligible, at: originalTransactionIdentifier, "It was extended twice within 365 days.")
    }
    subscription.extensionDates.append(now)
    let end = options.calendar.adding(days: Double(days), to: subscription.expiresDate)
    subscription.transaction.expiresDate = end
    subscription.anchorDay = Int64(options.calendar.anchorDay(of: end))
    subscription.dueDate = end
    let stamp = Self.stamp(&subscription, at: now)
    emit(.renewalExtended, of: &subscription, at: stamp)
    followFamily(of: &subscription, .renewalExtended, nil, isNewTransaction: false)
    return finish()
  }

  /// Charges for the renewal now: ahead of time, or though it failed before. The billing policy is not asked.
  ///
  /// - Returns: `DID_RENEW`.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared`, `not-active`, or `not-eligible` when
  ///   renewal is off.
  public mutating func renewNow(
    _ originalTransactionIdentifier: String, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    var subscription = try current(originalTransactionIdentifier, at: now)
    guard subscription.autoRenews, product(subscription.autoRenewProductIdentifier)?.isForSale == true,
      subscription.priceIncreaseStatus != .noResponse
    else {
      throw SubscriptionError(
        .notEligible, at: originalTransactionIdentifier,
        "Renewal is off, the product is not for sale, or an answer to a higher price is wanted.")
    }
    if subscription.isInBillingRetry {
      recover(&subscription, at: now)
    } else {
      renew(&subscription, from: subscription.expiresDate, at: now)
    }
    return finish()
  }

  /// Takes a product from sale, or offers it again. Subscriptions to it expire at their next renewal.
  ///
  /// - Throws: ``SubscriptionError`` with `unknown-product`.
  public mutating func setForSale(_ isForSale: Bool, _ productIdentifier: String) throws(SubscriptionError) {
    guard products[productIdentifier] != nil else {
      throw SubscriptionError(.unknownProduct, at: productIdentifier, "There is no such product.")
    }
    ledger.removedProducts.removeAll { $0 == productIdentifier }
    if !isForSale { ledger.removedProducts.append(productIdentifier) }
  }

  /// Says that nothing can be charged to an account, or that it can be again.
  public mutating func setBillingIssue(_ isPresent: Bool, of account: String) {
    ledger.declinedAccounts.removeAll { $0 == account }
    if isPresent { ledger.declinedAccounts.append(account) }
  }
}
