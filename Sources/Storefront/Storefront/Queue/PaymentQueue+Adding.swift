// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  /// Adds a payment (`addPayment:`). It is stored when this returns. The request to the store is idempotent, so
  /// retries buy once.
  ///
  /// The same payment may be added repeatedly; each time is a separate purchase. The queue needs an observer; see
  /// ``addObserver(_:)``.
  ///
  /// - Returns: The identifier of its transaction.
  /// - Throws: ``PaymentQueueError`` with `invalid-quantity`, `request-data-reserved`, `payments-not-allowed`,
  ///   `storage`, `closed`, or `unknown-product` if the identifier is empty or not registered. Nothing was added then,
  ///   except that after the storage error `sync-failed` this is unknown until the queue is opened again.
  @discardableResult
  public func add(_ payment: Payment) throws(PaymentQueueError) -> PaymentTransaction.ID {
    try enqueue([payment])[0].id
  }

  /// Adds several payments, all of them or none, with one sync.
  ///
  /// - Returns: The identifiers of their transactions, in the same order.
  /// - Throws: As ``add(_:)``.
  @discardableResult
  public func add(contentsOf payments: [Payment]) throws(PaymentQueueError) -> [PaymentTransaction.ID] {
    try enqueue(payments).map(\.id)
  }

  /// Adds a payment and waits for its outcome: a transaction that was purchased or failed. Finish it in either case,
  /// after delivering the purchase.
  ///
  /// Observers also receive the transaction, if there are any: either they or the caller deliver the purchase. A
  /// payment that needs approval may take days. Cancelling the task only ends the wait. The payment stays in the
  /// queue, and observers receive its outcome.
  ///
  /// - Returns: The transaction, with its receipt.
  /// - Throws: ``PaymentQueueError`` as ``add(_:)``; `CancellationError` if the task is cancelled.
  public func purchase(_ payment: Payment) async throws -> PaymentTransaction {
    try Task.checkCancellation()
    let number = try enqueue([payment])[0]
    let outcome = Answer<PaymentTransaction>()
    purchases[number] = outcome
    startSynchronizing()
    defer {
      purchases[number] = nil
      wakeIfUnwatched()
    }
    return try await outcome.value(ifCancelled: .failure(CancellationError())).get()
  }

  private func enqueue(_ payments: [Payment]) throws(PaymentQueueError) -> [SequenceNumber] {
    try requireOpen()
    for payment in payments { try check(payment) }
    var changes = LedgerChanges()
    for payment in payments { changes.add(payment, request: options.makeIdentifier()) }
    let added = try commit(changes)
    synchronization.toSend += added
    if !added.isEmpty { wake() }
    return added
  }

  private func check(_ payment: Payment) throws(PaymentQueueError) {
    let product = payment.productIdentifier
    try PaymentQueueError.require(
      payment.quantity > 0, .invalidQuantity, at: product,
      "The quantity is \(payment.quantity); it must be 1 or more.")
    guard payment.requestData == nil else {
      throw PaymentQueueError(.requestDataReserved, at: product, "requestData is reserved: leave it nil.")
    }
    try PaymentQueueError.require(
      !product.isEmpty && options.registeredProductIdentifiers?.contains(product) ?? true
        && (!options.checksRegistration || store.isRegistered(product)), .unknownProduct, at: product,
      "The product is not registered with the store: check its identifier.")
    try PaymentQueueError.require(
      canMakePayments, .paymentsNotAllowed, at: product,
      "The user may not authorise payments: offer nothing for sale.")
  }

  /// Stores changes, and notifies all observers. Returns the new and changed transactions.
  @discardableResult
  func commit(_ changes: LedgerChanges) throws(PaymentQueueError) -> [SequenceNumber] {
    let changed = try usingLedger(try ledger.commit(changes))
    for id in mailboxes.keys {
      for number in changed { mailboxes[id]?.post(number) }
    }
    for (number, transaction) in changes.outcomes { purchases[number]?.deliver(.success(transaction)) }
    return changed
  }
}
