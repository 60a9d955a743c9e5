// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptCodec
internal import Storefront

/// Controls for purchases that customers begin and pause, and for payments that are decided later.
extension PlayControl {
  func buy(_ control: PlayBuyControl) async throws -> JSONMembers {
    let payment = Payment(
      productIdentifier: control.productId, quantity: control.quantity,
      applicationUsername: control.obfuscatedAccountId, offer: control.offerCode.map { .code($0) })
    let token = PlayLedger.newToken()
    let purchase = PlayPurchase().with {
      $0.token = token
      $0.requestId = token
      $0.account = control.account
      $0.productId = control.productId
      $0.obfuscatedAccountId = control.obfuscatedAccountId
      $0.obfuscatedProfileId = control.obfuscatedProfileId
      $0.developerPayload = control.developerPayload
      $0.isTest = control.isTest ?? store.isTest
    }
    for (name, text) in [
      ("obfuscatedAccountId", control.obfuscatedAccountId),
      ("obfuscatedProfileId", control.obfuscatedProfileId),
    ] {
      guard text?.count ?? 0 <= 64 else { throw Failure("\"\(name)\" has more than 64 characters.") }
    }
    return try await signed(
      store.exclusively { [store] in
        try await Self.buy(purchase, payment, isPending: control.isPending, at: store)
      })
  }

  private static func buy(
    _ requested: PlayPurchase, _ payment: Payment, isPending: Bool, at store: EmulatedPlayStore
  ) async throws -> PlayPurchase {
    var purchase = requested
    purchase.purchaseDate = store.now
    purchase.quantity = Int64(payment.quantity)
    let product = store.ledger.store.catalog.products.first {
      $0.productIdentifier == payment.productIdentifier
    }
    purchase.isSubscription = product?.type == .autoRenewableSubscription
    try await store.follow()
    // Stored before it is sold, so that a crash in between leaves no sale without its token.
    var change = PlayLedger.Change(try await store.ledger.header())
    change.put(purchase)
    change.name(purchase, .request(account: purchase.account, id: purchase.token))
    try await store.ledger.commit(change)
    store.setPending(isPending, purchase.account)
    defer { store.setPending(false, purchase.account) }
    let outcome = try await store.ledger.store.session(account: purchase.account).purchase(
      PurchaseRequest(id: purchase.token, payment: payment))
    switch outcome {
    case .purchased: try await store.follow(requesting: [purchase.account: purchase])
    case .pending:
      purchase.state = .pending
      try await store.ledger.put(purchase)
    case .failed(let error): throw Failure("The purchase failed: \(error)")
    }
    guard let bought = try await store.ledger.purchase(token: purchase.token), bought.state != .requested
    else { throw Failure("ITEM_ALREADY_OWNED: the customer has \"\(payment.productIdentifier)\".") }
    return bought
  }

  /// Pauses a subscription for a number of days, from the end of its period.
  func pause(_ token: String, days: Int) async throws {
    try await store.exclusively { [store] in
      guard let purchase = try await store.ledger.purchase(token: token),
        let original = purchase.originalTransactionId
      else { throw Failure("There is no purchase \"\(token)\" that was paid for.") }
      let view = try await PlayView(purchase, in: store.ledger.store)
      guard view.subscriptionState == "ACTIVE", purchase.pauseDate == nil, let end = view.expiryDate else {
        throw Failure("Only an active subscription that renews can be paused, once.")
      }
      try await store.plan(purchase, original, from: end, to: end.addingSeconds(Double(days) * 86_400))
    }
  }

  /// Resumes a paused subscription, which charges for it, or cancels a planned pause.
  func endPause(of token: String) async throws {
    try await store.exclusively { [store] in
      guard let purchase = try await store.ledger.purchase(token: token), let pause = purchase.pauseDate,
        let original = purchase.originalTransactionId
      else { throw Failure("The purchase \"\(token)\" has no pause.") }
      try await store.plan(purchase, original, from: pause, to: purchase.isPaused ? store.now : pause)
    }
  }

  func decide(_ token: String, isApproved: Bool) async throws {
    try await store.exclusively { [store] in
      guard var purchase = try await store.ledger.purchase(token: token), purchase.state == .pending,
        let request = purchase.requestId
      else { throw Failure("There is no pending purchase \"\(token)\".") }
      if isApproved {
        if case .failed(let error) = try await store.ledger.store.approve(request, account: purchase.account)
        {
          throw Failure("The purchase failed: \(error)")
        }
        return try await store.follow()
      }
      try await store.ledger.store.decline(request, account: purchase.account)
      purchase.state = .canceled
      try await store.post(purchase.isSubscription ? 20 : 2, of: purchase)
    }
  }
}

extension EmulatedPlayStore {
  /// Sets the pause of a purchase, and moves the renewal to its end.
  fileprivate func plan(
    _ purchase: PlayPurchase, _ original: String, from start: Timestamp, to end: Timestamp
  ) async throws {
    try await ledger.put(
      purchase.with {
        $0.pauseDate = start
        $0.resumeDate = end
      })
    try await ledger.store.perform(.postpone(original, to: end))
    try await follow()
  }

  /// Stores a purchase that the engine does not know, and publishes a notification about it.
  func post(_ type: Int64, of purchase: PlayPurchase) async throws {
    var change = PlayLedger.Change(try await ledger.header())
    follower().post(type, of: purchase, at: now, &change)
    try await ledger.commit(change)
  }

  /// Publishes a message that names no purchase; a purchase that was changed is stored in the same commit.
  func post(_ member: String, _ content: JSONMembers, storing purchase: PlayPurchase? = nil) async throws {
    var change = PlayLedger.Change(try await ledger.header())
    if let purchase { change.put(purchase) }
    follower().publish(member, content, at: now, &change)
    try await ledger.commit(change)
  }
}
