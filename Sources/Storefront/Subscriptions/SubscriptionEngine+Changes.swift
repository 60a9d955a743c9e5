// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Changes of subscriptions by customers and the vendor.
extension SubscriptionEngine {
  /// The subscription, if it is the customer's own and current.
  func current(_ originalTransactionIdentifier: String, at now: Timestamp) throws(SubscriptionError)
    -> Subscription
  {
    guard let subscription = self[originalTransactionIdentifier] else {
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

  /// The subscription, if it is the customer's own and its current period is paid for.
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

  /// Switches renewal on or off. Switching it off during billing retry expires the subscription.
  ///
  /// - Returns: `DID_CHANGE_RENEWAL_STATUS`; nothing if the state does not change.
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

  /// Changes the product from the next renewal on; an upgrade takes effect at once. The rules are those of a payment.
  ///
  /// - Returns: `DID_CHANGE_RENEWAL_PREF` with the subtype of the change.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared`, `not-active`, or `not-eligible` for
  ///   a product that is not for sale or in another group.
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
        cancelDowngrade(of: &subscription, at: now)
      }
      return finish()
    }
    do throws(StoreError) {
      return try change(&subscription, to: product, terms, price: price, redeeming: nil, at: now).events
    } catch {
      throw SubscriptionError(.notEligible, at: productIdentifier, error.message)
    }
  }

  /// Changes the price of a product. New customers pay it at once, existing ones from their next renewal on.
  ///
  /// - Parameters:
  ///   - productIdentifier: An auto-renewable subscription.
  ///   - price: The new price, in thousandths.
  ///   - needsConsent: Whether existing customers must agree; otherwise they are only informed.
  ///   - instant: When.
  /// - Returns: `PRICE_INCREASE` for each subscription that renews to the product: `PENDING` or `ACCEPTED`. None for a
  ///   lower price.
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
    let meant = identifiers {
      $0.autoRenewProductIdentifier == productIdentifier && !$0.isFamilyShared && $0.autoRenews
        && $0.isCurrent(at: now)
    }
    for id in meant {
      guard var subscription = self[id] else { continue }
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

  /// Records the customer's answer to a price increase. After a refusal the subscription ends with the current period.
  ///
  /// - Returns: `PRICE_INCREASE` `ACCEPTED`, or `DID_CHANGE_RENEWAL_STATUS` `AUTO_RENEW_DISABLED`.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared`, `not-active`, or `not-eligible` if
  ///   no answer is pending.
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

  /// Extends the current period, as the vendor's compensation.
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
    return postpone(
      subscription, to: options.calendar.adding(days: Double(days), to: subscription.expiresDate), at: now)
  }

  /// Moves the end of the current period to another date, without the limits of an extension; to now where that date has
  /// passed.
  ///
  /// - Returns: `RENEWAL_EXTENDED`.
  /// - Throws: ``SubscriptionError`` with `unknown-subscription`, `family-shared` or `not-active`.
  package mutating func postpone(
    _ originalTransactionIdentifier: String, to end: Timestamp, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    let now = begin(at: instant)
    let subscription = try paid(originalTransactionIdentifier, at: now)
    return postpone(subscription, to: max(end, now), at: now)
  }

  private mutating func postpone(
    _ postponed: Subscription, to end: Timestamp, at now: Timestamp
  ) -> [StoreEvent] {
    var subscription = postponed
    subscription.transaction.expiresDate = end
    subscription.anchorDay = Int64(options.calendar.anchorDay(of: end))
    subscription.dueDate = end
    let stamp = Self.stamp(&subscription, at: now)
    emit(.renewalExtended, of: &subscription, at: stamp)
    followFamily(of: &subscription, .renewalExtended, nil, isNewTransaction: false)
    return finish()
  }

  /// Extends the current periods of all paid subscriptions to a product.
  ///
  /// - Parameters:
  ///   - productIdentifier: The product.
  ///   - days: 1 to 90.
  ///   - storefronts: Those of the customers; `nil` for all.
  ///   - instant: When.
  /// - Returns: `RENEWAL_EXTENDED` for each, and `RENEWAL_EXTENSION` `FAILURE` for each that cannot be extended.
  package mutating func extendAll(
    of productIdentifier: String, byDays days: Int, in storefronts: Set<String>?, at instant: Timestamp
  ) -> [StoreEvent] {
    let now = begin(at: instant)
    var done: [StoreEvent] = finish()
    let meant = identifiers {
      $0.productIdentifier == productIdentifier && !$0.isFamilyShared && $0.isCurrent(at: now)
        && storefronts?.contains($0.transaction.storefront ?? "") ?? true
    }
    for id in meant {
      do throws(SubscriptionError) {
        done += try extend(id, byDays: days, at: now)
      } catch {
        done += report(.renewalExtension, .failure, of: id, at: now)
      }
    }
    return done
  }

  /// Notifies about a subscription after changing it.
  ///
  /// - Returns: The notification; nothing where there is no such subscription.
  package mutating func report(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, of originalTransactionIdentifier: String,
    at instant: Timestamp, _ change: (inout Subscription) -> Void = { _ in }
  ) -> [StoreEvent] {
    let now = begin(at: instant)
    guard var subscription = self[originalTransactionIdentifier] else { return finish() }
    change(&subscription)
    let stamp = Self.stamp(&subscription, at: now)
    emit(type, subtype, of: &subscription, at: stamp)
    return finish()
  }

  /// Charges for the renewal now: before it is due, or after it failed. The billing policy does not apply.
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

  /// Removes a product from sale, or offers it again. Subscriptions to a removed product expire at their next renewal.
  ///
  /// - Throws: ``SubscriptionError`` with `unknown-product`.
  public mutating func setForSale(_ isForSale: Bool, _ productIdentifier: String) throws(SubscriptionError) {
    guard products[productIdentifier] != nil else {
      throw SubscriptionError(.unknownProduct, at: productIdentifier, "There is no such product.")
    }
    ledger.removedProducts.removeAll { $0 == productIdentifier }
    if !isForSale { ledger.removedProducts.append(productIdentifier) }
  }

  /// Makes charges to an account fail, or succeed again.
  public mutating func setBillingIssue(_ isPresent: Bool, of account: String) {
    declined.set(isPresent ? FamilyRecord() : nil, at: account)
  }
}
