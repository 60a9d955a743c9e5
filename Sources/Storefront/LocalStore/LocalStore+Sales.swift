// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// The calls of customers.
extension LocalStore {
  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) throws(StoreError) -> ProductsResponse {
    let fault = nextFault(of: .products)
    switch fault {
    case .error(let error): throw error
    case .unavailable: throw StoreError(.unknown, "The store cannot be reached.")
    case .answerLost: throw StoreError(.unknown, "The store's answer was lost.")
    case nil: break
    }
    do throws(LocalStoreError) { try catchUp() } catch { throw StoreError(.unknown, error.description) }
    var found: [Product] = []
    var invalid: [String] = []
    for identifier in identifiers.sorted() {
      if let product = product(identifier, preferredLocales: preferredLocales) {
        found.append(product)
      } else {
        invalid.append(identifier)
      }
    }
    return ProductsResponse(products: found, invalidProductIdentifiers: invalid)
  }

  /// A product that is for sale, at its present price; `nil` for any other.
  private func product(_ identifier: String, preferredLocales: [Locale]) -> Product? {
    guard var product = state?.engine.product(identifier), product.isForSale else { return nil }
    if let price = state?.engine.price(of: identifier), price != Milliunits.of(product.price) {
      product.price = Decimal(price) / 1000
    }
    return product.localized(preferredLocales: preferredLocales, storefrontLocale: options.storefrontLocale)
  }

  func purchase(
    _ request: PurchaseRequest, account: String
  ) async throws(StoreUnavailable) -> PurchaseOutcome {
    let fault = nextFault(of: .purchase)
    if case .unavailable(let retryAfter) = fault {
      throw StoreUnavailable("The store cannot be reached.", retryAfter: retryAfter)
    }
    var authorization = options.authorization
    let outcome: PurchaseOutcome
    do throws(LocalStoreError) {
      if case .error(let error) = fault {
        authorization = .decline(error)
      } else if let authorize = options.authorize, let prompt = try prompt(for: request, account: account) {
        authorization = await authorize(prompt, account)
      }
      // No suspension from here on, so that no other call interleaves.
      outcome = try grouped { () throws(LocalStoreError) in
        try decide(request, account: account, authorization)
      }
      try await synchronized()
    } catch {
      throw error.unavailable
    }
    if case .answerLost = fault { throw StoreUnavailable("The store's answer was lost.") }
    return outcome
  }

  /// The question to the customer; `nil` if the answer to the request does not depend on it.
  private func prompt(
    for request: PurchaseRequest, account: String
  ) throws(LocalStoreError) -> PurchasePrompt? {
    try catchUp()
    let key = StoreKey.joined(account, request.id)
    guard options.refusal(of: account) == nil, refusal(of: request.payment) == nil,
      try value(of: key, in: .storeRequests) == nil, try value(of: key, in: .storePending) == nil,
      let product = product(request.payment.productIdentifier, preferredLocales: [])
    else { return nil }
    return PurchasePrompt(
      product: product, quantity: request.payment.quantity, environment: options.engine.environment)
  }

  private func decide(
    _ request: PurchaseRequest, account: String, _ authorization: AuthorizationPolicy
  ) throws(LocalStoreError) -> PurchaseOutcome {
    if let refusal = options.refusal(of: account) { return .failed(refusal) }
    let now = clock()
    try catchUp(to: now)
    let key = StoreKey.joined(account, request.id)
    if let bytes = try value(of: key, in: .storeRequests) {
      return try answer(Self.decode(bytes, at: "store-requests/\(key)"))
    }
    if try value(of: key, in: .storePending) != nil { return .pending }
    if let refusal = refusal(of: request.payment) { return try fail(request, account: account, refusal) }
    switch authorization {
    case .approve: return try sell(request, account: account, at: now)
    case .decline(let error): return try fail(request, account: account, error)
    case .ask:
      var pending = StorePendingRecord()
      pending.account = account
      pending.requestIdentifier = request.id
      pending.payment = request.payment
      pending.date = now
      try change { _, change throws(LocalStoreError) in
        change.records.append(.put(.storePending, key: key, value: pending.encodedJSON()))
      }
      return .pending
    }
  }

  /// The error of a payment that must be refused before authorisation; `nil` if it is acceptable.
  func refusal(of payment: Payment) -> StoreError? {
    guard payment.requestData == nil else {
      return StoreError(.paymentInvalid, "requestData is reserved. Leave it nil.")
    }
    guard let product = state?.engine.product(payment.productIdentifier) else {
      return StoreError(.paymentInvalid, "The store has no product \"\(payment.productIdentifier)\".")
    }
    guard product.isForSale else {
      return StoreError(
        .storeProductNotAvailable, "\"\(payment.productIdentifier)\" is not for sale at present.")
    }
    let isCounted = product.type == .consumable || product.type == .nonRenewingSubscription
    guard 1...(isCounted ? options.maximumQuantity : 1) ~= payment.quantity else {
      return StoreError(
        .paymentInvalid,
        "Of \"\(payment.productIdentifier)\" one payment may buy 1"
          + (isCounted ? " to \(options.maximumQuantity)." : "."))
    }
    guard payment.offer == nil || product.type == .autoRenewableSubscription else {
      return StoreError(.invalidOfferIdentifier, "Offers are for auto-renewable subscriptions.")
    }
    return nil
  }

  /// The stored outcome of a request.
  private func answer(_ record: StoreRequestRecord) throws(LocalStoreError) -> PurchaseOutcome {
    guard let identifier = record.transactionIdentifier else {
      return .failed(
        StoreError(.init(rawValue: Int(record.errorCode ?? 0)), record.errorMessage ?? "The payment failed."))
    }
    guard let sale = try sale(identifier) else {
      throw LocalStoreError(.corrupt, at: "store-sales/\(identifier)", "The sale is not stored.")
    }
    return .purchased(try storeTransaction(sale))
  }

  /// Fails a payment permanently.
  func fail(
    _ request: PurchaseRequest, account: String, _ error: StoreError
  ) throws(LocalStoreError) -> PurchaseOutcome {
    try change { _, change throws(LocalStoreError) in
      var record = StoreRequestRecord()
      record.errorCode = Int64(error.code.rawValue)
      record.errorMessage = error.message
      Self.complete(request, account: account, as: record, in: &change)
    }
    return .failed(error)
  }

  private static func complete(
    _ request: PurchaseRequest, account: String, as record: StoreRequestRecord, in change: inout Change
  ) {
    let key = StoreKey.joined(account, request.id)
    change.records.append(.put(.storeRequests, key: key, value: record.encodedJSON()))
    change.records.append(.remove(.storePending, key: key))
  }

  /// Sells the product: sale, receipt, notification and answer in one commit. All events due before `now` must have
  /// been performed.
  func sell(
    _ request: PurchaseRequest, account: String, at now: Timestamp
  ) throws(LocalStoreError) -> PurchaseOutcome {
    let payment = request.payment
    let owned = try ownedPurchase(of: payment.productIdentifier, by: account)
    let record = try change { engine, change throws(LocalStoreError) -> StoreRequestRecord in
      var record = StoreRequestRecord()
      switch Self.charge(payment, account: account, owned: owned, to: &engine, at: now) {
      case .success(let charged):
        try self.record(charged.events, in: &change, payment: payment, request: request.id, of: account)
        record.transactionIdentifier = charged.transaction.transactionId
        try shareWithFamily(charged.transaction, of: account, engine: &engine, in: &change, at: now)
        if charged.transaction.type == .nonConsumable, owned == nil {
          change.records.append(
            .put(
              .storeOwned, key: StoreKey.joined(account, payment.productIdentifier),
              value: Array((charged.transaction.transactionId ?? "").utf8)))
        }
      case .failure(let error):
        record.errorCode = Int64(error.code.rawValue)
        record.errorMessage = error.message
      }
      Self.complete(request, account: account, as: record, in: &change)
      return record
    }
    return try answer(record)
  }

  private struct Charged {
    let transaction: JWSTransaction
    let events: [StoreEvent]
  }

  private static func charge(
    _ payment: Payment, account: String, owned: JWSTransaction?, to engine: inout SubscriptionEngine,
    at now: Timestamp
  ) -> Result<Charged, StoreError> {
    guard let product = engine.product(payment.productIdentifier) else {
      return .failure(StoreError(.paymentInvalid, "The store has no such product."))
    }
    if product.type == .autoRenewableSubscription {
      do throws(StoreError) {
        let purchase = try engine.subscribe(
          payment.productIdentifier, account: account, applicationUsername: payment.applicationUsername,
          offer: payment.offer, at: now)
        return .success(Charged(transaction: purchase.transaction, events: purchase.events))
      } catch {
        return .failure(error)
      }
    }
    do throws(SubscriptionError) {
      let events = try engine.charge(
        for: product, account: account, quantity: payment.quantity,
        applicationUsername: payment.applicationUsername, original: owned, at: now)
      guard let event = events.last else { return .failure(StoreError(.unknown, "Nothing was sold.")) }
      return .success(Charged(transaction: event.transaction, events: events))
    } catch {
      return .failure(StoreError(.paymentInvalid, error.message))
    }
  }

  /// A purchase of a non-consumable that is not revoked: of the product itself, or of a related product in another app
  /// of the vendor.
  private func ownedPurchase(
    of productIdentifier: String, by account: String
  ) throws(LocalStoreError) -> JWSTransaction? {
    guard let product = products[productIdentifier], product.type == .nonConsumable else { return nil }
    for identifier in [productIdentifier] + product.relatedProductIdentifiers.sorted() {
      guard let bytes = try value(of: StoreKey.joined(account, identifier), in: .storeOwned),
        let sale = try sale(String(decoding: bytes, as: UTF8.self)), sale.transaction.revocationDate == nil
      else { continue }
      return sale.transaction
    }
    return nil
  }
}
