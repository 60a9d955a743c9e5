// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Adds a payment (`addPayment:`). It is stored when this returns, and is sent to the store once, however often it
  /// has to be tried.
  ///
  /// The same payment may be added repeatedly: each time is a purchase of its own. Somebody should be watching the
  /// queue; see ``addObserver(_:)``.
  ///
  /// - Parameter payment: What to buy.
  /// - Returns: Which transaction it made.
  /// - Throws: ``PaymentQueueError`` with `invalid-quantity`, `request-data-reserved`, `unknown-product`,
  ///   `payments-not-allowed`, `storage` or `closed`; then nothing was added. After a `storage` error whose storage
  ///   error is `sync-failed`, opening the queue anew shows whether it was.
  @discardableResult
  public func add(_ payment: Payment) throws(PaymentQueueError) -> PaymentTransaction.ID {
    try requireOpen()
    try check(payment)
    return try enqueue([payment])[0].id
  }

  /// Adds the payment that a mutable one describes now. Later changes of that one do not reach it.
  ///
  /// - Parameter payment: What to buy.
  /// - Returns: Which transaction it made.
  /// - Throws: As ``add(_:)-(Payment)``.
  @discardableResult
  public func add(_ payment: MutablePayment) throws(PaymentQueueError) -> PaymentTransaction.ID {
    try add(Payment(payment))
  }

  /// Adds several payments, all of them or none, with one sync.
  ///
  /// - Parameter payments: What to buy.
  /// - Returns: Which transactions they made, in the same order.
  /// - Throws: As ``add(_:)-(Payment)``.
  @discardableResult
  public func add(contentsOf payments: [Payment]) throws(PaymentQueueError) -> [PaymentTransaction.ID] {
    try requireOpen()
    for payment in payments { try check(payment) }
    return try enqueue(payments).map { $0.id }
  }

  private func check(_ payment: Payment) throws(PaymentQueueError) {
    let product = payment.productIdentifier
    guard payment.quantity > 0 else {
      throw PaymentQueueError(
        .invalidQuantity, at: product, "The quantity is \(payment.quantity); it must be 1 or more.")
    }
    guard payment.requestData == nil else {
      throw PaymentQueueError(.requestDataReserved, at: product, "requestData is reserved: leave it nil.")
    }
    if let registered = options.registeredProductIdentifiers, !registered.contains(product) {
      throw PaymentQueueError(
        .unknownProduct, at: product, "The product is not registered with the store: check its identifier.")
    }
    guard canMakePayments else {
      throw PaymentQueueError(
        .paymentsNotAllowed, at: product, "The user may not authorise payments: offer nothing for sale.")
    }
  }

  private func enqueue(_ payments: [Payment]) throws(PaymentQueueError) -> [SequenceNumber] {
    var changes = LedgerChanges()
    for payment in payments { changes.add(payment, request: options.makeIdentifier()) }
    let added = try commit(changes)
    for number in added { synchronization.toSend.append(number) }
    if !added.isEmpty { wake() }
    return added
  }

  /// Stores changes, and tells everybody.
  func commit(_ changes: LedgerChanges) throws(PaymentQueueError) -> [SequenceNumber] {
    try requireOpen()
    let changed = try ending { () throws(PaymentQueueError) in
      try ledger.commit(changes)
    }
    for id in mailboxes.keys {
      for number in changed { mailboxes[id]?.post(number) }
    }
    for (number, payment, outcome, _) in changes.outcomes {
      endPurchase(number, .success(PaymentTransaction(id: number.id, payment: payment, outcome: outcome)))
    }
    return changed
  }
}

// MARK: Purchasing

extension PaymentQueue {
  /// Adds a payment and waits for what becomes of it: a transaction that was purchased or failed. It must be finished
  /// in either case, once what was bought is delivered.
  ///
  /// Observers, if there are any, hear of the transaction, too: either they or the caller deliver what was bought. A
  /// payment that needs somebody's approval may take days. Cancelling the task ends the waiting and nothing else: the
  /// payment stays in the queue, and observers will hear of it.
  ///
  /// - Parameter payment: What to buy.
  /// - Returns: The transaction, with its receipt.
  /// - Throws: ``PaymentQueueError`` as ``add(_:)-(Payment)``; `CancellationError` when the task is cancelled.
  public func purchase(_ payment: Payment) async throws -> PaymentTransaction {
    try Task.checkCancellation()
    try requireOpen()
    try check(payment)
    let number = try enqueue([payment])[0]
    purchases[number] = PurchaseWait()
    startSynchronizing()
    defer {
      purchases[number] = nil
      wakeIfUnwatched()
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { purchases[number]?.wait($0) }
    } onCancel: {
      Task { await self.endPurchase(number, .failure(CancellationError())) }
    }
  }

  /// The same for the payment that a mutable one describes now.
  ///
  /// - Parameter payment: What to buy.
  /// - Returns: The transaction, with its receipt.
  /// - Throws: As ``purchase(_:)-(Payment)``.
  public func purchase(_ payment: MutablePayment) async throws -> PaymentTransaction {
    try await purchase(Payment(payment))
  }

  private func endPurchase(_ number: SequenceNumber, _ result: Result<PaymentTransaction, any Error>) {
    purchases[number]?.end(result)
  }
}

/// The result of a payment, or the continuation that waits for it.
struct PurchaseWait {
  private var result: Result<PaymentTransaction, any Error>?
  private var continuation: CheckedContinuation<PaymentTransaction, any Error>?

  /// Takes the end, now or when it comes.
  mutating func wait(_ continuation: CheckedContinuation<PaymentTransaction, any Error>) {
    if let result { continuation.resume(with: result) } else { self.continuation = continuation }
  }

  /// Takes the first end; there is one for everybody.
  mutating func end(_ result: Result<PaymentTransaction, any Error>) {
    guard self.result == nil else { return }
    self.result = result
    continuation?.resume(with: result)
    continuation = nil
  }
}
