// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptHTTP
import Storefront
import Testing

/// Every value arrives unchanged, in both directions.
@Suite struct HTTPStoreJourneyTests {
  @Test(arguments: 0..<UInt64(60)) func purchasesAreTheSameOnBothSides(seed: UInt64) async throws {
    var values = RandomValues(seed: seed)
    let request = PurchaseRequest(id: values.text(), payment: values.payment())
    let outcome = values.outcome()
    var answers = ClosureStore.Answers()
    answers.purchase = { _ throws(StoreUnavailable) in outcome }
    let behind = ClosureStore(answers)
    let store = try StoreOverHTTP.store(HandlerTransport(behind))
    #expect(try await store.purchase(request) == outcome)
    #expect(await behind.calls == [.purchase(request)])
  }

  @Test(arguments: 0..<UInt64(60)) func productsAreTheSameOnBothSides(seed: UInt64) async throws {
    var values = RandomValues(seed: seed)
    let wanted = Set((0..<5).map { "\($0)" + values.text() })
    let products = wanted.sorted().dropFirst(2).map { values.product($0) }
    let response = ProductsResponse(
      products: products, invalidProductIdentifiers: wanted.sorted().prefix(2).reversed())
    let locales = values.array { $0.locale() }
    var answers = ClosureStore.Answers()
    answers.products = { _ throws(StoreError) in response }
    let behind = ClosureStore(answers)
    let store = try StoreOverHTTP.store(HandlerTransport(behind))
    #expect(try await store.products(for: wanted, preferredLocales: locales) == response)
    #expect(await behind.calls == [.products(wanted, locales)])
  }

  @Test(arguments: 0..<UInt64(60)) func pagesAreTheSameOnBothSides(seed: UInt64) async throws {
    var values = RandomValues(seed: seed)
    let sales = StoreTransactionPage(
      transactions: values.array { $0.transaction() }, next: StorePosition(rawValue: "next" + values.text()))
    let again = RestoredTransactionPage(
      transactions: values.array {
        RestoredTransaction(transaction: $0.transaction(), original: $0.transaction())
      },
      next: values.maybe { StorePosition(rawValue: "next" + $0.text()) })
    let request = RestoreRequest(id: values.text(), applicationUsername: values.maybe { $0.text() })
    let position = values.maybe { StorePosition(rawValue: $0.text()) }
    var answers = ClosureStore.Answers()
    answers.unfinished = { _ throws(StoreUnavailable) in sales }
    answers.restore = { _ throws(StoreError) in again }
    let behind = ClosureStore(answers)
    let store = try StoreOverHTTP.store(HandlerTransport(behind))
    #expect(try await store.unfinishedTransactions(after: position, limit: 100) == sales)
    #expect(try await store.restore(request, after: position, limit: 3) == again)
    let identifier = values.text()
    try await store.finish(transactionIdentifier: identifier)
    #expect(
      await behind.calls == [.unfinished(position, 100), .restore(request, position, 3), .finish(identifier)])
  }

  @Test(arguments: 0..<UInt64(20)) func refusalsAreTheSameOnBothSides(seed: UInt64) async throws {
    var values = RandomValues(seed: seed)
    let error = values.error()
    var answers = ClosureStore.Answers()
    answers.products = { _ throws(StoreError) in throw error }
    answers.restore = { _ throws(StoreError) in throw error }
    let store = try StoreOverHTTP.store(HandlerTransport(ClosureStore(answers)))
    await #expect(throws: error) { try await store.products(for: ["a"], preferredLocales: []) }
    await #expect(throws: error) { try await store.restore(RestoreRequest(id: "1"), after: nil, limit: 1) }
  }

  @Test func offerCodesAreNotSent() async throws {
    var values = RandomValues(seed: 1)
    var terms = values.terms()
    terms.offers = [
      SubscriptionOffer(
        type: .offerCode, identifier: "spring", paymentMode: .freeTrial, period: values.period(),
        codes: ["SECRET"])
    ]
    let product = Product(
      productIdentifier: "monthly", localizedTitle: "", localizedDescription: "", price: 1,
      priceLocale: values.locale(), currency: "EUR", type: .autoRenewableSubscription, subscription: terms)
    var answers = ClosureStore.Answers()
    answers.products = { _ throws(StoreError) in ProductsResponse(products: [product]) }
    let store = try StoreOverHTTP.store(HandlerTransport(ClosureStore(answers)))
    let response = try await store.products(for: ["monthly"], preferredLocales: [])
    let offer = try #require(response.products.first?.subscription?.offers.first)
    #expect(offer.identifier == "spring")
    #expect(offer.codes == [])
  }

  @Test func manyProductsAreAskedForInSeveralRequests() async throws {
    let behind = ClosureStore()
    let transport = HandlerTransport(behind)
    let store = try StoreOverHTTP.store(transport)
    let wanted = Set((0..<1201).map { "product.\($0)" })
    let response = try await store.products(for: wanted, preferredLocales: [])
    #expect(Set(response.invalidProductIdentifiers) == wanted)
    #expect(response.invalidProductIdentifiers.count == 1201)
    #expect(await transport.requests.count == 3)
    #expect(try await store.products(for: [], preferredLocales: []) == ProductsResponse(products: []))
  }

  @Test func longPagesAreRequestedAgainWithASmallerLimit() async throws {
    var answers = ClosureStore.Answers()
    answers.unfinished = { limit throws(StoreUnavailable) in
      let sale = StoreTransaction(
        transactionIdentifier: "1", originalTransactionIdentifier: "1", transactionDate: StoreOverHTTP.now,
        payment: Payment(productIdentifier: "a"), receipt: [UInt8](repeating: 7, count: 2 << 20))
      return StoreTransactionPage(transactions: Array(repeating: sale, count: limit), next: nil)
    }
    let behind = ClosureStore(answers)
    let page = try await StoreOverHTTP.store(HandlerTransport(behind))
      .unfinishedTransactions(after: nil, limit: 5)
    #expect(page.transactions.count == 2)
    #expect(await behind.calls == [5, 2].map { .unfinished(nil, $0) })
  }

  @Test(arguments: [(0, 1), (-5, 1), (7, 7), (101, 100), (.max, 100)])
  func requestsAtLeastOneAndAtMostAHundred(limit: Int, asked: Int) async throws {
    let behind = ClosureStore()
    _ = try await StoreOverHTTP.store(HandlerTransport(behind)).unfinishedTransactions(
      after: nil, limit: limit)
    #expect(await behind.calls == [.unfinished(nil, asked)])
  }
}
