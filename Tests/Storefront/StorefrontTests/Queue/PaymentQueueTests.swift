// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

@Suite("Payment queue: StoreKit's rules", .timeLimit(.minutes(1)))
struct PaymentQueueTests {
  let store = FakeStore()
  let storage = MemoryRecordStorage()
  let coins = Payment(productIdentifier: "coins")

  private func makeQueue(_ options: PaymentQueue.Options = testOptions()) throws -> PaymentQueue {
    try PaymentQueue(store: store, storage: storage, options: options)
  }

  @Test("SKPayment: requestData (copy, readonly)")
  func refusesRequestData() async throws {
    #expect(coins.requestData == nil)
    let queue = try makeQueue()
    var payment = MutablePayment(productIdentifier: "coins")
    for data: [UInt8] in [[], [1]] {
      payment.requestData = data
      let mutable = payment
      let fixed = Payment(payment)
      #expect(await queueCode { _ = try await queue.add(mutable) } == .requestDataReserved)
      #expect(await queueCode { _ = try await queue.add(fixed) } == .requestDataReserved)
    }
    #expect(await queue.transactions.isEmpty)
    payment.requestData = nil
    try await queue.add(payment)
  }

  @Test("SKMutablePayment : SKPayment")
  func copiesMutablePayments() async throws {
    let queue = try makeQueue()
    var payment = MutablePayment(productIdentifier: "coins")
    payment.quantity = 3
    let id = try await queue.add(payment)
    payment.quantity = 7
    payment.productIdentifier = "gems"
    #expect(try await queue.transaction(id)?.payment.quantity == 3)
    #expect(try await queue.transaction(id)?.payment.productIdentifier == "coins")
    try await queue.synchronize()
    #expect(await store.unfinished.map { $0.payment.quantity } == [3])
  }

  @Test("SKPaymentQueue")
  func persistsContactsTheStoreAndNotifiesObservers() async throws {
    let first = try makeQueue()
    let id = try await first.add(coins)
    try await first.close()
    // The next launch.
    let queue = try PaymentQueue(store: store, storage: storage.reopened(), options: testOptions())
    #expect(await queue.transactions.map { $0.id } == [id])
    let observer = RecordingObserver()
    await queue.addObserver(observer)
    try await observer.wait { $0.states[id] == .purchased }
    #expect(await store.calls.first == "purchase r1")
    #expect(await store.charges == ["r1": 1])
    await queue.removeObserver(observer)
  }

  @Test("SKPaymentQueue: +canMakePayments → BOOL")
  func canMakePayments() async throws {
    #expect(try makeQueue().canMakePayments)
    let queue = try makeQueue(testOptions(canMakePayments: false))
    #expect(!queue.canMakePayments)
    #expect(await queueCode { try await queue.add(coins) } == .paymentsNotAllowed)
    #expect(await queueCode { _ = try await queue.purchase(coins) } == .paymentsNotAllowed)
    #expect(await queue.transactions.isEmpty)
  }

  @Test("SKPaymentQueue: transactions (readonly array)")
  func listsPendingTransactions() async throws {
    await store.decide { $0.productIdentifier == "gems" ? .ask : .approve }
    let queue = try makeQueue()
    #expect(await queue.transactions.isEmpty)
    let ids = [
      try await queue.add(coins), try await queue.add(Payment(productIdentifier: "gems")),
      try await queue.add(coins),
    ]
    try await queue.synchronize()
    let transactions = await queue.transactions
    #expect(transactions.map { $0.id } == ids)
    #expect(transactions.map { $0.transactionState } == [.purchased, .purchasing, .purchased])
    #expect(transactions.map { $0.transactionIdentifier } == ["s1000", nil, "s1001"])
    // Receipts are read separately.
    #expect(transactions.allSatisfy { $0.storeTransaction?.receipt.isEmpty ?? true })
    #expect(try await queue.transaction(ids[2])?.transactionReceipt == Array("receipt of s1001".utf8))
    try await queue.finish([ids[0]])
    #expect(await queue.transactions.map { $0.id } == Array(ids[1...]))
    #expect(try await queue.transaction(ids[0]) == nil)
    #expect(try await queue.transaction(ids[1])?.transactionReceipt == nil)
  }

  @Test("SKPaymentQueue: addPayment:")
  func addsOnePersistentTransactionForEachPayment() async throws {
    let queue = try makeQueue(testOptions(registered: ["coins", "gems"]))
    for quantity in [0, -1, Int.min] {
      var mutable = MutablePayment(productIdentifier: "coins")
      mutable.quantity = quantity
      let payment = mutable
      #expect(await queueCode { _ = try await queue.add(payment) } == .invalidQuantity)
    }
    do {
      try await queue.add(Payment(productIdentifier: "ruby"))
      Issue.record("An unknown product was added.")
    } catch {
      #expect(error.code == .unknownProduct)
      #expect(error.place == "ruby")
    }
    #expect(await queueCode { try await queue.add(Payment(productIdentifier: "")) } == .unknownProduct)
    // All or none.
    let mixed = [coins, Payment(productIdentifier: "ruby")]
    #expect(await queueCode { try await queue.add(contentsOf: mixed) } == .unknownProduct)
    #expect(await queue.transactions.isEmpty)

    // The same payment twice: two requests.
    let ids = [try await queue.add(coins), try await queue.add(coins)]
    #expect(Set(ids).count == 2)
    #expect(await queue.transactions.map { $0.transactionState } == [.purchasing, .purchasing])
    #expect(
      try storage.records(in: .queueTransactions, after: nil, limit: 9).map { $0.key } == ids.map(\.rawValue))

    // On completion or failure all observers receive it.
    await store.decide {
      $0.productIdentifier == "gems" ? .decline(StoreError(.paymentCancelled, "no")) : .approve
    }
    let gems = try await queue.add(Payment(productIdentifier: "gems"))
    let observers = [RecordingObserver(), RecordingObserver()]
    for observer in observers { await queue.addObserver(observer) }
    for observer in observers {
      try await observer.wait {
        $0.states == [ids[0]: .purchased, ids[1]: .purchased, gems: .failed]
      }
    }
    #expect(await store.charges == ["r1": 1, "r2": 1])
    for observer in observers { await queue.removeObserver(observer) }
  }

  @Test("sends an unregistered product to the store, which fails the payment")
  func unknownToTheStore() async throws {
    await store.decide { _ in .decline(StoreError(.paymentInvalid, "unknown product")) }
    let queue = try makeQueue()
    let transaction = try await queue.purchase(Payment(productIdentifier: "ruby"))
    #expect(transaction.error?.code == .paymentInvalid)
    #expect(await queueCode { try await queue.add(Payment(productIdentifier: "")) } == .unknownProduct)
  }

  @Test("SKPaymentQueue: addTransactionObserver:")
  func synchronizesOnlyWhileThereIsAnObserver() async throws {
    let queue = try makeQueue()
    let id = try await queue.add(coins)
    for _ in 0..<50 { await Task.yield() }
    #expect(await store.calls == [])
    let observers = [RecordingObserver(), RecordingObserver(), RecordingObserver()]
    for observer in observers { await queue.addObserver(observer) }
    for observer in observers {
      // Adding it again does not notify it twice.
      await queue.addObserver(observer)
      try await observer.wait { $0.states[id] == .purchased }
      #expect(await observer.updated.count { $0.transactionState == .purchased } == 1)
    }
    // An observer that is added later receives all unfinished transactions.
    let late = RecordingObserver()
    await queue.addObserver(late)
    try await late.wait { !$0.updated.isEmpty }
    let heard = await late.updated
    #expect(heard.map { $0.id } == [id])
    #expect(heard.map { $0.transactionReceipt } == [Array("receipt of s1000".utf8)])
    try await queue.close()
  }

  @Test("SKPaymentQueue: removeTransactionObserver:")
  func removingTheLastObserverStopsSynchronization() async throws {
    let time = ManualTime()
    let queue = try makeQueue(testOptions(time))
    let observers = [RecordingObserver(), RecordingObserver()]
    for observer in observers { await queue.addObserver(observer) }
    try await time.waits(reach: 1)
    await queue.removeObserver(observers[0])
    // One is left: synchronization continues.
    let first = try await queue.add(coins)
    try await observers[1].wait { $0.states[first] == .purchased }
    await queue.removeObserver(observers[1])
    for _ in 0..<50 { await Task.yield() }
    let calls = await store.calls
    let second = try await queue.add(coins)
    await time.pass()
    for _ in 0..<50 { await Task.yield() }
    #expect(await store.calls == calls)
    #expect(try await queue.transaction(second)?.transactionState == .purchasing)
    #expect(await observers[0].states[second] == nil)
    #expect(await observers[1].states[second] == nil)
    // It begins again with the next one.
    await queue.addObserver(observers[0])
    try await observers[0].wait { $0.states[second] == .purchased }
    await queue.removeObserver(observers[0])
  }

  @Test("SKPaymentQueue: finishTransaction:")
  func finishingRemovesPermanently() async throws {
    await store.decide { payment in
      switch payment.productIdentifier {
      case "gems": .ask
      case "ruby": .decline(StoreError(.paymentCancelled, "no"))
      default: .approve
      }
    }
    let queue = try makeQueue()
    let purchased = try await queue.add(coins)
    let waiting = try await queue.add(Payment(productIdentifier: "gems"))
    let failed = try await queue.add(Payment(productIdentifier: "ruby"))
    #expect(await queueCode { try await queue.finish(purchased) } == .stillPurchasing)
    try await queue.synchronize()
    #expect(await queueCode { try await queue.finish(waiting) } == .stillPurchasing)
    for unknown in ["", "1", "000000000000000", "999999999999999", "\(purchased.rawValue)-original", "é"] {
      let id = PaymentTransaction.ID(rawValue: unknown)
      #expect(await queueCode { try await queue.finish([id]) } == .unknownTransaction, "\(unknown)")
    }
    let transaction = try #require(try await queue.transaction(purchased))
    try await queue.finish(transaction)
    try await queue.finish(failed)
    // Several observers may finish the same.
    try await queue.finish(transaction)
    #expect(await queue.transactions.map { $0.id } == [waiting])
    // Only finishes of sales are sent to the store.
    try await queue.synchronize()
    #expect(await store.finishes == ["s1000"])
    #expect(await store.unfinished.isEmpty)
    // It is never reported again: neither by the store's list nor after a relaunch, and its number is not reused.
    try await queue.close()
    let next = try PaymentQueue(store: store, storage: storage.reopened(), options: testOptions(prefix: "n"))
    try await next.synchronize()
    #expect(await next.transactions.map { $0.id } == [waiting])
    try await next.finish(purchased)
    let another = try await next.add(coins)
    #expect(![purchased, waiting, failed].contains(another))
    #expect(await queueCode { try await next.finish(another) } == .stillPurchasing)
  }

  @Test("SKPaymentQueue: applicationUsername")
  func passesTheUsernameToTheStore() async throws {
    let queue = try makeQueue()
    var payment = MutablePayment(payment: "coins", username: "5f0c")
    payment.quantity = 2
    let transaction = try await queue.purchase(payment)
    #expect(transaction.payment.applicationUsername == "5f0c")
    #expect(await store.unfinished.map { $0.payment.applicationUsername } == ["5f0c"])
  }
}

extension MutablePayment {
  init(payment: String, username: String) {
    self.init(productIdentifier: payment)
    applicationUsername = username
  }
}

extension RecordCollection {
  static let queueTransactions = RecordCollection(rawValue: "queue-transactions")
  static let queueReceipts = RecordCollection(rawValue: "queue-receipts")
  static let queueFinishes = RecordCollection(rawValue: "queue-finishes")
}
