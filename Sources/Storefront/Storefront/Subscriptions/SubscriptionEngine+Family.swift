// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Family Sharing. If a product allows it, the other members share a purchase that one member pays for, each with
/// their own original transaction.
extension SubscriptionEngine {
  /// The other members of an account's family.
  package func family(of account: String) -> [String] { members(of: account).filter { $0 != account } }

  /// All members of an account's family, including the account.
  private func members(of account: String) -> [String] { families[account]?.members ?? [] }

  private mutating func setFamily(_ members: [String]) {
    let family = members.count > 1 ? FamilyRecord(members: members) : nil
    for member in members { families.set(family, at: member) }
  }

  /// Adds an account to the family of another account. From now on, members share each other's subscriptions:
  /// `SUBSCRIBED` for each. It is refused if the account is in a family, or the family has six members.
  package mutating func addToFamily(_ account: String, of organizer: String) throws(SubscriptionError) {
    guard account != organizer, members(of: account).isEmpty else {
      throw SubscriptionError(.notEligible, at: account, "The account is in a family already.")
    }
    let others = members(of: organizer).isEmpty ? [organizer] : members(of: organizer)
    try SubscriptionError.require(
      others.count < 6, .notEligible, at: organizer, "A family has at most six members.")
    setFamily(others + [account])
    for id in identifiers(of: others + [account]) {
      guard var subscription = self[id], !subscription.isFamilyShared, isShared(subscription, at: now)
      else { continue }
      share(&subscription, .subscribed, .resubscribe, isNewTransaction: false, at: now)
    }
  }

  /// Removes an account from its family. Sharing ends in both directions: `REVOKE` for each subscription.
  package mutating func removeFromFamily(_ account: String) throws(SubscriptionError) {
    let members = members(of: account)
    try SubscriptionError.require(!members.isEmpty, .notEligible, at: account, "The account is in no family.")
    setFamily([account])
    setFamily(members.filter { $0 != account })
    for id in identifiers(of: members) {
      guard var subscription = self[id], !subscription.isFamilyShared else { continue }
      let isLeaving = subscription.account == account
      stopSharing(&subscription, at: now) { isLeaving || $0.account == account }
    }
  }

  /// Stops sharing one subscription with one member: `REVOKE`.
  package mutating func revokeSharing(_ originalTransactionIdentifier: String) throws(SubscriptionError) {
    let member = try known(originalTransactionIdentifier)
    guard let owner = member.sharedFrom, var subscription = self[owner],
      subscription.sharedTo.contains(member.id)
    else {
      throw SubscriptionError(.notEligible, at: originalTransactionIdentifier, "It is not shared.")
    }
    stopSharing(&subscription, at: now) { $0.id == originalTransactionIdentifier }
  }

  private func identifiers(of accounts: [String]) -> [String] {
    accounts.flatMap { subscriptions(of: $0) }.map(\.id).sorted()
  }

  private func isShared(_ subscription: Subscription, at now: Timestamp) -> Bool {
    products[subscription.productIdentifier]?.isFamilyShareable == true
      && [.active, .inGracePeriod].contains(subscription.status(at: now))
  }

  /// Applies an event of a subscription to the members that share it, or that now begin to share it.
  mutating func followFamily(
    of subscription: inout Subscription, _ type: NotificationType, _ subtype: NotificationSubtype?,
    isNewTransaction: Bool
  ) {
    defer { store(subscription) }
    guard !subscription.isFamilyShared,
      !subscription.sharedTo.isEmpty || !members(of: subscription.account).isEmpty
    else { return }
    let now = subscription.lastSignedDate
    if products[subscription.productIdentifier]?.isFamilyShareable != true {
      return stopSharing(&subscription, at: now)
    }
    share(&subscription, type, subtype, isNewTransaction: isNewTransaction, at: now)
  }

  /// Updates the members' subscriptions from the payer's.
  private mutating func share(
    _ subscription: inout Subscription, _ type: NotificationType, _ subtype: NotificationSubtype?,
    isNewTransaction: Bool, at now: Timestamp
  ) {
    let mayBegin = isShared(subscription, at: now)
    for account in family(of: subscription.account) {
      let current = self.subscription(
        of: account, inGroup: subscription.groupIdentifier, sharedFrom: subscription.id)
      if var member = current, subscription.sharedTo.contains(member.id) {
        guard type != .subscribed || isNewTransaction else { continue }
        follow(subscription, &member, at: now, withTransaction: isNewTransaction)
        emit(type, subtype, of: &member, at: member.lastSignedDate, isNewTransaction: isNewTransaction)
      } else if mayBegin {
        var member = current ?? Subscription()
        member.account = account
        member.sharedFrom = subscription.id
        follow(subscription, &member, at: now, withTransaction: true)
        subscription.sharedTo.append(member.id)
        emit(
          .subscribed, current == nil ? .initialBuy : .resubscribe, of: &member, at: member.lastSignedDate,
          isNewTransaction: true)
      }
    }
    store(subscription)
  }

  private mutating func follow(
    _ owner: Subscription, _ member: inout Subscription, at now: Timestamp, withTransaction: Bool
  ) {
    let stamp = Self.stamp(&member, at: now)
    if withTransaction {
      var transaction = sharedTransaction(
        of: owner.transaction, with: member.account, continuing: member.transaction, at: stamp)
      transaction.webOrderLineItemId = Self.lineItem(of: transaction.transactionId ?? "")
      transaction.setOffer(nil)
      member.transaction = transaction
    } else {
      member.transaction.expiresDate = owner.transaction.expiresDate
    }
    member.autoRenewProductIdentifier = owner.autoRenewProductIdentifier
    member.autoRenews = owner.autoRenews
    member.expirationIntent = owner.expirationIntent
    member.isInBillingRetry = owner.isInBillingRetry
    member.gracePeriodExpiresDate = owner.gracePeriodExpiresDate
    member.renewalPrice = owner.renewalPrice
    member.recentStartDate = owner.recentStartDate
  }

  /// A family member's own transaction for a shared purchase. `previous` is the transaction that it continues.
  mutating func sharedTransaction(
    of purchase: JWSTransaction, with account: String, continuing previous: JWSTransaction? = nil,
    at now: Timestamp
  ) -> JWSTransaction {
    let identifier = nextTransactionIdentifier()
    var transaction = purchase
    transaction.transactionId = identifier
    transaction.originalTransactionId = previous?.originalTransactionId ?? identifier
    transaction.purchaseDate = now
    transaction.originalPurchaseDate = previous?.originalPurchaseDate ?? now
    transaction.signedDate = now
    transaction.inAppOwnershipType = .familyShared
    transaction.appAccountToken = nil
    transaction.appTransactionId = previous?.appTransactionId ?? appTransactionIdentifier(of: account)
    transaction.price = 0
    return transaction
  }

  /// Revokes the members' subscriptions.
  mutating func stopSharing(
    _ subscription: inout Subscription, at now: Timestamp,
    with isMeant: (Subscription) -> Bool = { _ in true }
  ) {
    for id in subscription.sharedTo {
      guard let member = self[id], isMeant(member) else { continue }
      subscription.sharedTo.removeAll { $0 == id }
      // An expired subscription is not revoked again.
      guard member.transaction.revocationDate == nil else { continue }
      stopSharing(member.transaction, account: member.account, at: now)
    }
    store(subscription)
  }
}
