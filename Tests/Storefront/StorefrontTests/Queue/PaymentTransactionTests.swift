// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

@Suite("Payment transactions: properties by state", .timeLimit(.minutes(1)))
struct PaymentTransactionTests {
  let store = FakeStore()
  let storage = MemoryRecordStorage()

  /// A queue with a transaction in each state, by state.
  private func everyState() async throws -> (PaymentQueue, [PaymentTransaction.State: PaymentTransaction]) {
    await store.decide { payment in
      switch payment.productIdentifier {
      case "gems": .ask
      case "ruby": .decline(StoreError(.paymentCancelled, "The customer cancelled."))
      default: .approve
      }
    }
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions())
    let book = try await queue.add(MutablePayment(payment: "book", username: "5f0c"))
    try await queue.synchronize()
    try await queue.finish(book)
    try await queue.restoreCompletedTransactions()
    for product in ["gems", "ruby", "coins"] { try await queue.add(Payment(productIdentifier: product)) }
    try await queue.synchronize()
    var found: [PaymentTransaction.State: PaymentTransaction] = [:]
    for transaction in await queue.transactions {
      found[transaction.transactionState] = try await queue.transaction(transaction.id)
    }
    #expect(found.count == 4)
    return (queue, found)
  }

  @Test("SKPaymentTransaction")
  func survivesRelaunchesUntilItIsFinished() async throws {
    let (queue, states) = try await everyState()
    try await queue.close()
    var stored = storage
    for _ in 0..<3 {
      stored = stored.reopened()
      let next = try PaymentQueue(store: store, storage: stored, options: testOptions())
      let delivered = await next.redelivered()
      #expect(delivered.count == 4)
      #expect(Set(delivered) == Set(states.values))
      try await next.close()
    }
  }

  @Test("SKPaymentTransaction: error")
  func errorIsDefinedWhereItFailed() async throws {
    let (_, states) = try await everyState()
    #expect(states[.failed]?.error == StoreError(.paymentCancelled, "The customer cancelled."))
    for state in [PaymentTransaction.State.purchasing, .purchased, .restored] {
      #expect(states[state]?.error == nil)
    }
  }

  @Test("SKPaymentTransaction: originalTransaction")
  func originalIsDefinedWhereItWasRestored() async throws {
    let (_, states) = try await everyState()
    let restored = try #require(states[.restored])
    let original = try #require(restored.originalTransaction)
    #expect(original.transactionState == .purchased)
    #expect(original.transactionIdentifier == "s1000")
    #expect(original.payment.productIdentifier == "book")
    #expect(original.transactionReceipt == Array("receipt of s1000".utf8))
    // The restoring one has its own identifier and receipt.
    #expect(restored.transactionIdentifier == "r2-0")
    #expect(restored.storeTransaction?.receipt == Array("receipt of r2-0".utf8))
    #expect(restored.id != original.id)
    for state in [PaymentTransaction.State.purchasing, .purchased, .failed] {
      #expect(states[state]?.originalTransaction == nil)
    }
  }

  @Test("SKPaymentTransaction: payment")
  func paymentIsTheOneThatCreatedIt() async throws {
    let (_, states) = try await everyState()
    #expect(states[.purchasing]?.payment == Payment(productIdentifier: "gems"))
    #expect(states[.failed]?.payment == Payment(productIdentifier: "ruby"))
    #expect(states[.purchased]?.payment == Payment(productIdentifier: "coins"))
    #expect(states[.restored]?.payment == Payment(MutablePayment(payment: "book", username: "5f0c")))
  }

  @Test("SKPaymentTransaction: transactionDate")
  func dateIsDefinedWhereItWasSold() async throws {
    let (_, states) = try await everyState()
    #expect(states[.purchased]?.transactionDate == Timestamp(secondsSince1970: 1_760_000_001))
    #expect(states[.restored]?.transactionDate == Timestamp(secondsSince1970: 1_760_000_000))
    #expect(states[.purchasing]?.transactionDate == nil)
    #expect(states[.failed]?.transactionDate == nil)
  }

  @Test("SKPaymentTransaction: transactionIdentifier")
  func identifierIsUniqueAndDefinedWhereItWasSold() async throws {
    let (queue, states) = try await everyState()
    #expect(states[.purchasing]?.transactionIdentifier == nil)
    #expect(states[.failed]?.transactionIdentifier == nil)
    for _ in 0..<5 { try await queue.add(Payment(productIdentifier: "coins")) }
    try await queue.synchronize()
    let identifiers = await queue.transactions.compactMap { $0.transactionIdentifier }
    #expect(identifiers.count == 7)
    #expect(Set(identifiers).count == 7)
  }

  @Test("SKPaymentTransaction: transactionReceipt (NSData)")
  func receiptIsDefinedWhereItWasPurchased() async throws {
    let (queue, states) = try await everyState()
    #expect(states[.purchased]?.transactionReceipt == Array("receipt of s1001".utf8))
    let restored = states[.restored]
    #expect(restored?.transactionReceipt == restored?.storeTransaction?.receipt)
    #expect(restored?.transactionReceipt != nil)
    #expect(restored?.transactionReceipt != restored?.originalTransaction?.transactionReceipt)
    for state in [PaymentTransaction.State.purchasing, .failed] {
      #expect(states[state]?.transactionReceipt == nil)
    }
    // A snapshot without its receipt has `nil`, not an empty receipt.
    #expect(await queue.transactions.allSatisfy { $0.transactionReceipt == nil })
  }

  @Test("SKPaymentTransaction: transactionState")
  func stateIsTheCurrentOne() async throws {
    await store.decide { _ in .ask }
    let queue = try PaymentQueue(store: store, storage: storage, options: testOptions())
    let id = try await queue.add(Payment(productIdentifier: "coins"))
    let before = try #require(try await queue.transaction(id))
    #expect(before.transactionState == .purchasing)
    try await queue.synchronize()
    #expect(try await queue.transaction(id)?.transactionState == .purchasing)
    await store.decide("r1", .approve)
    try await queue.synchronize()
    #expect(try await queue.transaction(id)?.transactionState == .purchased)
    // A snapshot does not change.
    #expect(before.transactionState == .purchasing)
  }

  @Test("SKPaymentTransaction: SKPaymentTransactionStatePurchasing =0")
  func purchasing() async throws {
    let (_, states) = try await everyState()
    #expect(PaymentTransaction.State.purchasing.rawValue == 0)
    #expect(states[.purchasing]?.outcome == .purchasing)
  }

  @Test("SKPaymentTransaction: SKPaymentTransactionStatePurchased =1")
  func purchased() async throws {
    let (_, states) = try await everyState()
    #expect(PaymentTransaction.State.purchased.rawValue == 1)
    #expect(await store.charges == ["r1": 1, "r5": 1])
    #expect(states[.purchased]?.storeTransaction?.requestIdentifier == "r5")
  }

  @Test("SKPaymentTransaction: SKPaymentTransactionStateFailed =2")
  func failed() async throws {
    let (_, states) = try await everyState()
    #expect(PaymentTransaction.State.failed.rawValue == 2)
    #expect(states[.failed]?.error?.code == .paymentCancelled)
    #expect(states[.failed]?.storeTransaction == nil)
  }

  @Test("SKPaymentTransaction: SKPaymentTransactionStateRestored =3")
  func restored() async throws {
    let (_, states) = try await everyState()
    #expect(PaymentTransaction.State.restored.rawValue == 3)
    #expect(states[.restored]?.originalTransaction?.payment.productIdentifier == "book")
  }
}
