// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// The calls of customers.
extension LocalStore {
  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) throws(LocalStoreError) -> ProductsResponse {
    try catchUp()
    let found = identifiers.sorted().compactMap { product($0, preferredLocales: preferredLocales) }
    return ProductsResponse(
      products: found, invalidProductIdentifiers: identifiers.subtracting(found.map(\.id)).sorted())
  }

  /// A product with its present price, for sale or not; `nil` if there is no such product.
  package func catalogProduct(_ identifier: String) -> CatalogProduct? {
    guard var product = state?.engine.product(identifier) else { return nil }
    if let price = state?.engine.price(of: identifier), price != Milliunits.of(product.price) {
      product.price = Decimal(price) / 1000
    }
    return product
  }

  /// A product with its present price, if it is for sale; otherwise `nil`.
  private func product(_ identifier: String, preferredLocales: [Locale]) -> Product? {
    guard let product = catalogProduct(identifier), product.isForSale else { return nil }
    return product.localized(preferredLocales: preferredLocales, storefrontLocale: options.storefrontLocale)
  }

  func purchase(
    _ request: PurchaseRequest, account: String, refusedWith refusal: StoreError?
  ) async throws(LocalStoreError) -> PurchaseOutcome {
    var authorization = options.authorization
    if let refusal {
      authorization = .decline(refusal)
    } else if let authorize = options.authorize, let prompt = try prompt(for: request, account: account) {
      authorization = await authorize(prompt, account)
    }
    // There is no suspension after this point, so no other call interleaves.
    let outcome = try grouped { () throws(LocalStoreError) in
      try decide(request, account: account, authorization)
    }
    try await synchronized()
    return outcome
  }

  /// The question to the customer; `nil` if the outcome of the request does not depend on the answer.
  private func prompt(
    for request: PurchaseRequest, account: String
  ) throws(LocalStoreError) -> PurchasePrompt? {
    try catchUp()
    let key = StoreKey.joined(account, request.id)
    guard options.refusal(of: account) == nil, refusal(of: request.payment) == nil,
      try durable.value(of: key, in: .storeRequests) == nil,
      try durable.value(of: key, in: .storePending) == nil,
      let product = product(request.payment.productIdentifier, preferredLocales: [])
    else { return nil }
    return PurchasePrompt(
      product: product, quantity: request.payment.quantity, environment: options.engine.environment)
  }

  private func decide(
    _ request: PurchaseRequest, account: String, _ authorization: AuthorizationPolicy
  ) throws(LocalStoreError) -> PurchaseOutcome {
    if let refusal = options.refusal(of: account) { return .failed(refusal) }
    let now = try catchUp()
    let key = StoreKey.joined(account, request.id)
    if let record: StoreRequestRecord = try durable.row(key, in: .storeRequests) {
      return try outcome(record)
    }
    if try durable.value(of: key, in: .storePending) != nil { return .pending }
    if let refusal = refusal(of: request.payment) { return try fail(request, account: account, refusal) }
    switch authorization {
    case .approve: return try sell(request, account: account, at: now)
    case .decline(let error): return try fail(request, account: account, error)
    case .ask:
      let pending = PendingPurchase(
        account: account, requestIdentifier: request.id, payment: request.payment, date: now)
      try commit([.put(.storePending, key: key, value: pending.encodedJSON())])
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

  private func outcome(_ record: StoreRequestRecord) throws(LocalStoreError) -> PurchaseOutcome {
    guard let identifier = record.transactionIdentifier else {
      return .failed(
        StoreError(.init(rawValue: Int(record.errorCode ?? 0)), record.errorMessage ?? "The payment failed."))
    }
    return .purchased(try storeTransaction(storedSale(identifier)))
  }

  /// Fails a payment permanently.
  func fail(
    _ request: PurchaseRequest, account: String, _ error: StoreError
  ) throws(LocalStoreError) -> PurchaseOutcome {
    try commit(Self.completion(of: request, account: account, as: StoreRequestRecord(error)))
    return .failed(error)
  }

  private static func completion(
    of request: PurchaseRequest, account: String, as record: StoreRequestRecord
  ) -> [RecordChange] {
    let key = StoreKey.joined(account, request.id)
    return [.put(.storeRequests, key: key, value: record.encodedJSON()), .remove(.storePending, key: key)]
  }

  /// Sells the product. Sale, receipt, notification and outcome are stored in one commit. All events due before `now`
  /// must have been performed.
  func sell(
    _ request: PurchaseRequest, account: String, at now: Timestamp
  ) throws(LocalStoreError) -> PurchaseOutcome {
    let owned = try ownedTransaction(for: request.payment, by: account)
    let record = try change { engine, change throws(LocalStoreError) -> StoreRequestRecord in
      var record = StoreRequestRecord()
      let purchase: SubscriptionPurchase?
      do throws(StoreError) {
        purchase = try engine.charge(request.payment, account: account, owned: owned, at: now)
      } catch {
        purchase = nil
        record = StoreRequestRecord(error)
      }
      if let purchase {
        let transaction = purchase.transaction
        record.transactionIdentifier = transaction.transactionId
        var events = purchase.events
        // A repurchase is shared already.
        if owned == nil { share(transaction, of: account, &engine) }
        events += engine.finish()
        try self.record(events, in: &change, answering: request, of: account)
        if transaction.type == .nonConsumable, owned == nil {
          let key = StoreKey.joined(account, request.payment.productIdentifier)
          let identifier = Array((transaction.transactionId ?? "").utf8)
          change.records.append(.put(.storeOwned, key: key, value: identifier))
        }
      }
      change.records += Self.completion(of: request, account: account, as: record)
      return record
    }
    return try outcome(record)
  }

  /// The earlier purchase that a payment for a non-consumable repeats: a purchase of the product itself, or of a
  /// related product in another app of the vendor.
  private func ownedTransaction(
    for payment: Payment, by account: String
  ) throws(LocalStoreError) -> JWSTransaction? {
    guard let product = products[payment.productIdentifier], product.type == .nonConsumable else {
      return nil
    }
    for identifier in [product.id] + product.relatedProductIdentifiers.sorted() {
      if let sale = try ownedPurchase(of: identifier, by: account) { return sale.transaction }
    }
    return nil
  }
}

extension SubscriptionEngine {
  /// Charges for a payment for any product. `owned` is the earlier purchase that it repeats.
  fileprivate mutating func charge(
    _ payment: Payment, account: String, owned: JWSTransaction?, at now: Timestamp
  ) throws(StoreError) -> SubscriptionPurchase {
    guard let product = product(payment.productIdentifier) else {
      throw StoreError(.paymentInvalid, "The store has no such product.")
    }
    if product.type == .autoRenewableSubscription {
      return try subscribe(
        product.id, account: account, applicationUsername: payment.applicationUsername, offer: payment.offer,
        at: now)
    }
    return try charge(
      for: product, account: account, quantity: payment.quantity,
      applicationUsername: payment.applicationUsername, original: owned, at: now)
  }
}

extension StoreRequestRecord {
  fileprivate init(_ error: StoreError) {
    errorCode = Int64(error.code.rawValue)
    errorMessage = error.message
  }
}
