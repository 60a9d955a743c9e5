// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptHTTP
import Storefront
import Testing

/// A queue that buys over an unreliable connection.
@Suite(.timeLimit(.minutes(2))) struct HTTPStoreQueueTests {
  /// A store that charges once for each request, and records finished sales.
  private actor Till: Store {
    private(set) var charged: [String: Int] = [:]
    private(set) var finished: Set<String> = []
    private(set) var callCount = 0

    func products(
      for identifiers: Set<String>, preferredLocales: [Locale]
    ) async throws(StoreError) -> ProductsResponse { ProductsResponse(products: []) }

    func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
      callCount += 1
      if charged[request.id] == nil { charged[request.id] = request.payment.quantity }
      return .purchased(
        StoreTransaction(
          transactionIdentifier: "sale-\(request.id)", originalTransactionIdentifier: "sale-\(request.id)",
          transactionDate: StoreOverHTTP.now, payment: request.payment, requestIdentifier: request.id,
          receipt: Array(request.id.utf8)))
    }

    func unfinishedTransactions(
      after position: StorePosition?, limit: Int
    ) async throws(StoreUnavailable) -> StoreTransactionPage {
      StoreTransactionPage(transactions: [], next: nil)
    }

    func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
      finished.insert(transactionIdentifier)
    }

    func restore(
      _ request: RestoreRequest, after position: StorePosition?, limit: Int
    ) async throws(StoreError) -> RestoredTransactionPage {
      RestoredTransactionPage(transactions: [], next: nil)
    }
  }

  @Test(arguments: 1...4, [1, 3]) func everyPurchaseIsSoldOnceAndFinished(seed: UInt64, attempts: Int)
    async throws
  {
    let till = Till()
    let transport = HandlerTransport(till) { number in
      var dice = RandomValues(seed: seed &* 1_000_003 &+ UInt64(number))
      switch Int.random(in: 0..<8, using: &dice) {
      case 0: return .requestLost
      case 1, 2: return .answerLost
      case 3: return .replaced(RemoteResponse(status: 503, body: Array("<html>".utf8)))
      case 4: return .replaced(RemoteResponse(status: 200, body: Array("<html>Log in</html>".utf8)))
      case 5: return .replaced(RemoteResponse(status: 404))
      default: return .arrives
      }
    }
    let time = RemoteTime(
      now: { StoreOverHTTP.now }, elapsed: { .zero },
      sleep: { _ in try await Task.sleep(for: .microseconds(50)) },
      random: { 0 })
    let queue = try PaymentQueue(
      store: try StoreOverHTTP.store(transport, attempts: attempts), storage: MemoryRecordStorage(),
      options: PaymentQueue.Options(time: time))
    let payments = (1...20).map { number in
      var payment = MutablePayment(productIdentifier: "product-\(number)")
      payment.quantity = number
      return Payment(payment)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for payment in payments {
        group.addTask {
          let transaction = try await queue.purchase(payment)
          #expect(transaction.transactionState == .purchased)
          #expect(transaction.payment == payment)
          #expect(
            transaction.transactionReceipt
              == transaction.storeTransaction?.requestIdentifier.map { Array($0.utf8) })
          try await queue.finish(transaction)
        }
      }
      try await group.waitForAll()
    }
    while await till.finished.count < payments.count { _ = try? await queue.synchronize() }
    #expect(await till.charged.values.sorted() == Array(1...20))
    #expect(await till.finished == Set(till.charged.keys.map { "sale-\($0)" }))
    #expect(await till.callCount > payments.count)
    #expect(await queue.transactions == [])
    try await queue.close()
  }
}
