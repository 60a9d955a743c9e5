// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import ReceiptCodec

extension SubscriptionEngine {
  /// Performs a change. If this throws, it has no effect.
  package mutating func perform(_ change: SubscriptionChange) throws(SubscriptionError) {
    switch change {
    case .setAutoRenew(let isOn, let id): try setAutoRenew(isOn, of: id)
    case .changeRenewal(let id, let product): try changeRenewal(of: id, to: product)
    case .renewNow(let id): try renewNow(id)
    case .extend(let id, let days): try extend(id, byDays: days)
    case .extendAll(let product, let days, let storefronts):
      extendAll(of: product, byDays: days, in: storefronts)
    case .postpone(let id, let end): try postpone(id, to: end)
    case .changePrice(let product, let price, let needsConsent):
      guard let milliunits = Milliunits.of(price) else {
        throw SubscriptionError(
          .invalidValue, at: product, "The price is negative, or too great to be stated.")
      }
      try changePrice(of: product, to: milliunits, needsConsent: needsConsent)
    case .answerPriceIncrease(let id, let consents): try answerPriceIncrease(of: id, consents: consents)
    case .setForSale(let isForSale, let product): try setForSale(isForSale, product)
    case .setBillingIssue(let isPresent, let account):
      declined.set(isPresent ? FamilyRecord() : nil, at: account)
    }
  }

  func known(_ original: String) throws(SubscriptionError) -> Subscription {
    guard let subscription = self[original] else {
      throw SubscriptionError(
        .unknownSubscription, at: original, "There is no subscription of this original transaction.")
    }
    return subscription
  }

  /// The subscription, if it is the customer's own and current.
  private func current(_ original: String) throws(SubscriptionError) -> Subscription {
    let subscription = try known(original)
    try SubscriptionError.require(
      !subscription.isFamilyShared, .familyShared, at: original,
      "Another member of the family pays for it: change that one's, \(subscription.sharedFrom ?? "").")
    try SubscriptionError.require(
      subscription.isCurrent(at: now), .notActive, at: original,
      "It is \(subscription.status(at: now).rawValue). The customer must subscribe again.")
    return subscription
  }

  /// The subscription, if it is the customer's own and its current period is paid for.
  private func paid(_ original: String) throws(SubscriptionError) -> Subscription {
    let subscription = try current(original)
    guard subscription.status(at: now) == .active else {
      throw SubscriptionError(.notActive, at: original, "The renewal has not been paid for.")
    }
    return subscription
  }

  private func requireProduct(_ productIdentifier: String) throws(SubscriptionError) {
    guard products[productIdentifier] != nil else {
      throw SubscriptionError(.unknownProduct, at: productIdentifier, "There is no such product.")
    }
  }

  private mutating func setAutoRenew(_ isOn: Bool, of original: String) throws(SubscriptionError) {
    var subscription = try current(original)
    if isOn {
      enableRenewal(of: &subscription)
    } else if subscription.autoRenews {
      let wasUnpaid = subscription.isInBillingRetry
      disableRenewal(of: &subscription)
      if wasUnpaid { expire(&subscription, .cancelled, .voluntary) }
    }
  }

  private mutating func changeRenewal(
    of original: String, to productIdentifier: String
  ) throws(SubscriptionError) {
    var subscription = try paid(original)
    guard let product = product(productIdentifier), let terms = product.subscription, product.isForSale,
      let price = price(of: productIdentifier), terms.groupIdentifier == subscription.groupIdentifier
    else {
      throw SubscriptionError(
        .notEligible, at: productIdentifier, "It is not for sale, or not in the group of the subscription.")
    }
    if productIdentifier != subscription.productIdentifier {
      change(&subscription, to: product, terms, price: price, redeeming: nil)
    } else if subscription.autoRenewProductIdentifier != productIdentifier {
      cancelDowngrade(of: &subscription)
    }
  }

  private mutating func changePrice(
    of productIdentifier: String, to price: Int64, needsConsent: Bool
  ) throws(SubscriptionError) {
    try requireProduct(productIdentifier)
    ledger.prices.removeAll { $0.productIdentifier == productIdentifier }
    ledger.prices.append(EngineLedger.ProductPrice(productIdentifier: productIdentifier, price: price))
    let meant = identifiers {
      $0.autoRenewProductIdentifier == productIdentifier && !$0.isFamilyShared && $0.autoRenews
        && $0.isCurrent(at: now)
    }
    for id in meant {
      guard var subscription = self[id] else { continue }
      guard price > subscription.renewalPrice else {
        subscription.setRenewalPrice(price)
        store(subscription)
        continue
      }
      subscription.increasedPrice = price
      subscription.priceIncreaseStatus = needsConsent ? .noResponse : .consented
      notify(.priceIncrease, needsConsent ? .pending : .accepted, of: &subscription)
    }
  }

  private mutating func answerPriceIncrease(of original: String, consents: Bool) throws(SubscriptionError) {
    var subscription = try current(original)
    guard subscription.priceIncreaseStatus == .noResponse else {
      throw SubscriptionError(.notEligible, at: original, "No answer to a higher price is wanted.")
    }
    if consents {
      subscription.priceIncreaseStatus = .consented
      notify(.priceIncrease, .accepted, of: &subscription)
    } else {
      subscription.hasRefusedPrice = true
      disableRenewal(of: &subscription)
    }
  }

  private mutating func extend(_ original: String, byDays days: Int) throws(SubscriptionError) {
    var subscription = try paid(original)
    try SubscriptionError.require(
      1...90 ~= days, .invalidValue, at: original, "A subscription is extended by 1 to 90 days.")
    guard subscription.hasPaid, subscription.transaction.offerDiscountType != .freeTrial else {
      throw SubscriptionError(.notEligible, at: original, "What was never paid for cannot be extended.")
    }
    let year = options.calendar.adding(days: -365, to: now)
    subscription.extensionDates.removeAll { $0 <= year }
    guard subscription.extensionDates.count < 2 else {
      throw SubscriptionError(.notEligible, at: original, "It was extended twice within 365 days.")
    }
    subscription.extensionDates.append(now)
    let end = options.calendar.adding(days: Double(days), to: subscription.expiresDate)
    postpone(&subscription, to: end)
  }

  private mutating func extendAll(
    of productIdentifier: String, byDays days: Int, in storefronts: Set<String>?
  ) {
    let meant = identifiers {
      $0.productIdentifier == productIdentifier && !$0.isFamilyShared && $0.isCurrent(at: now)
        && storefronts?.contains($0.transaction.storefront ?? "") ?? true
    }
    for id in meant {
      do throws(SubscriptionError) { try extend(id, byDays: days) } catch {
        if var subscription = self[id] { notify(.renewalExtension, .failure, of: &subscription) }
      }
    }
  }

  private mutating func postpone(_ original: String, to end: Timestamp) throws(SubscriptionError) {
    var subscription = try paid(original)
    postpone(&subscription, to: max(end, now))
  }

  private mutating func postpone(_ subscription: inout Subscription, to end: Timestamp) {
    subscription.transaction.expiresDate = end
    subscription.anchorDay = Int64(options.calendar.anchorDay(of: end))
    subscription.dueDate = end
    announce(.renewalExtended, of: &subscription)
  }

  /// Changes a subscription and emits a notification about it. If the subscription is unknown, there is no
  /// notification.
  package mutating func report(
    _ type: NotificationType, of original: String, _ change: (inout Subscription) -> Void
  ) {
    guard var subscription = self[original] else { return }
    change(&subscription)
    notify(type, of: &subscription)
  }

  private mutating func renewNow(_ original: String) throws(SubscriptionError) {
    var subscription = try current(original)
    try SubscriptionError.require(
      subscription.autoRenews && product(subscription.autoRenewProductIdentifier)?.isForSale == true
        && subscription.priceIncreaseStatus != .noResponse, .notEligible, at: original,
      "Renewal is off, the product is not for sale, or an answer to a higher price is wanted.")
    if subscription.isInBillingRetry {
      recover(&subscription)
    } else {
      renew(&subscription, from: subscription.expiresDate)
    }
  }

  private mutating func setForSale(_ isForSale: Bool, _ productIdentifier: String) throws(SubscriptionError) {
    try requireProduct(productIdentifier)
    ledger.removedProducts.removeAll { $0 == productIdentifier }
    if !isForSale { ledger.removedProducts.append(productIdentifier) }
  }
}
