// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storefront
import Testing

@Suite struct ProductsRequestTests {
  private let identifiers: Set = ["com.example.coins", "com.example.gems"]

  private func store(
    gate: Gate? = nil, error: StoreError? = nil,
    alter: @escaping @Sendable (ProductsResponse) -> ProductsResponse = { $0 }
  ) throws -> CatalogStore {
    CatalogStore(try CatalogSamples.catalog, gate: gate, error: error, alter: alter)
  }

  private func request(_ store: CatalogStore, log: Lines = Lines()) -> ProductsRequest {
    ProductsRequest(
      productIdentifiers: identifiers, store: store, preferredLocales: [Locale(identifier: "en_US")],
      log: log.log)
  }

  // MARK: Responses

  @Test("SKProductsResponse") func validProductsAndInvalidIdentifiersAreSeparate() async throws {
    let response = try await request(try store()).response()
    #expect(response.products.map(\.productIdentifier) == ["com.example.coins"])
    #expect(response.invalidProductIdentifiers == ["com.example.gems"])
    let valid = try await ProductsRequest(productIdentifiers: ["com.example.coins"], store: try store())
      .response()
    #expect(valid.invalidProductIdentifiers == [])
  }

  @Test("SKProductsRequest : SKRequest") func requestsInformationAboutASet() async throws {
    let store = try store()
    let request = request(store)
    let delegate = RecordingDelegate()
    request.delegate = delegate
    request.start()
    await delegate.wait(for: 2)
    #expect(await store.questions == [identifiers])
  }

  @Test("SKProductsRequest: initWithProductIdentifiers:") func takesASetOfStrings() async throws {
    let store = try store()
    let request = request(store)
    #expect(request.productIdentifiers == identifiers)
    #expect(await store.questions.isEmpty)
    _ = try await request.response()
    #expect(await store.questions == [identifiers])
    // Without identifiers no request is sent.
    let none = ProductsRequest(productIdentifiers: [], store: store)
    #expect(try await none.response() == ProductsResponse(products: []))
    #expect(await store.questions.count == 1)
  }

  @Test func eachIdentifierOccursOnceWhateverTheStoreReturns() async throws {
    let other = try #require(CatalogSamples.catalog.product("com.example.news.monthly")).localized(
      preferredLocales: [], storefrontLocale: Locale(identifier: "en_US"))
    let store = try store { response in
      ProductsResponse(
        products: response.products + [other] + response.products,
        invalidProductIdentifiers: ["com.example.coins", "nobody.asked"])
    }
    let lines = Lines()
    let response = try await request(store, log: lines).response()
    #expect(response.products.map(\.productIdentifier) == ["com.example.coins"])
    #expect(response.invalidProductIdentifiers == ["com.example.gems"])
    #expect(lines.all.count == 2)
  }

  @Test func anUnreachableStoreIsAnError() async throws {
    let refusal = StoreError(.unknown, "down")
    let request = request(try store(error: refusal))
    await #expect(throws: refusal) { try await request.response() }
  }

  @Test func aCancelledTaskGetsNoResponse() async throws {
    let gate = Gate()
    let request = request(try store(gate: gate))
    let task = Task { try await request.response() }
    await gate.arrival()
    task.cancel()
    await gate.open()
    let result = await task.result
    #expect(throws: StoreError(.unknown, "The products request was cancelled.")) { try result.get() }
  }

  @Test func productionOmitsAndDevelopmentReports() async throws {
    let production = Lines()
    _ = try await request(try store(), log: production).response()
    #expect(production.all.count == 1)
    #expect(production.all.first?.contains("\"com.example.gems\"") == true)

    let development = Lines()
    let reported = Lines()
    let request = ProductsRequest(
      productIdentifiers: identifiers, store: try store(),
      report: { reported.log("\($0)") }, log: development.log)
    let response = try await request.response()
    #expect(response.products.count == 1)
    #expect(development.all == production.all)
    #expect(reported.all == production.all)

    // Without invalid identifiers nothing is reported.
    let quiet = Lines()
    _ = try await ProductsRequest(
      productIdentifiers: ["com.example.coins"], store: try store(),
      report: { quiet.log("\($0)") }, log: quiet.log
    ).response()
    #expect(quiet.all.isEmpty)
  }

  // MARK: Delegates

  @Test("SKRequest (abstract)") func isCreatedGivenADelegateAndStarted() async throws {
    let request = request(try store())
    let delegate = RecordingDelegate()
    await letOtherTasksRun()
    #expect(await delegate.events.isEmpty)
    request.delegate = delegate
    request.start()
    await delegate.wait(for: 2)
  }

  @Test("SKRequest: start", .timeLimit(.minutes(1))) func sendsAndNotifiesTheDelegate() async throws {
    let store = try store()
    let request = request(store)
    let delegate = RecordingDelegate()
    request.delegate = delegate
    request.start()
    request.start()
    await delegate.wait(for: 2)
    request.start()
    await letOtherTasksRun()
    // Starting it again has no effect, neither during the request nor afterwards.
    #expect(await store.questions.count == 1)
    #expect(await delegate.events.count == 2)
  }

  @Test("SKRequestDelegate requestDidFinish:") func finishesAfterTheResponseAndNothingFollows() async throws {
    let store = try store()
    var request: ProductsRequest? = request(store)
    weak let weakRequest = request
    let delegate = RecordingDelegate()
    request?.delegate = delegate
    let expected = try await request?.response()
    request?.start()
    await delegate.wait(for: 2)
    #expect(await delegate.events == [.received(try #require(expected)), .finished])
    // It may be released.
    request = nil
    for _ in 0..<1000 where weakRequest != nil { await letOtherTasksRun() }
    #expect(weakRequest == nil)
    #expect(await delegate.events.count == 2)
  }

  @Test("SKRequestDelegate: request:didFailWithError:")
  func failsWithoutFinishing() async throws {
    let refusal = StoreError(.clientInvalid, "no")
    let request = request(try store(error: refusal))
    let delegate = RecordingDelegate()
    request.delegate = delegate
    request.start()
    await delegate.wait(for: 1)
    await letOtherTasksRun()
    #expect(await delegate.events == [.failed(refusal)])
  }

  @Test("SKProductsRequestDelegate : SKRequestDelegate")
  func onlyTheResponseMethodIsRequired() async throws {
    // The other calls do nothing by themselves.
    final class Smallest: ProductsRequestDelegate {
      let inner = RecordingDelegate()
      func productsRequest(_ request: ProductsRequest, didReceive response: ProductsResponse) async {
        await inner.productsRequest(request, didReceive: response)
      }
    }
    let request = request(try store())
    let delegate = Smallest()
    request.delegate = delegate
    request.start()
    await delegate.inner.wait(for: 1)
    await letOtherTasksRun()
    #expect(await delegate.inner.events.count == 1)
  }

  @Test("SKRequest: delegate (assign)") func theDelegateIsNotRetained() async throws {
    let request = request(try store())
    var delegate: RecordingDelegate? = RecordingDelegate()
    weak let weakDelegate = delegate
    request.delegate = delegate
    #expect(request.delegate === delegate)
    delegate = nil
    #expect(weakDelegate == nil)
    #expect(request.delegate == nil)
  }

  @Test("SKProductsRequest: delegate (assign)") func aReleasedDelegateIsNotCalled() async throws {
    let gate = Gate()
    let request = request(try store(gate: gate))
    var delegate: RecordingDelegate? = RecordingDelegate()
    weak let weakDelegate = delegate
    request.delegate = delegate
    request.start()
    await gate.arrival()
    delegate = nil
    #expect(weakDelegate == nil)
    await gate.open()
    await letOtherTasksRun()
  }

  @Test func aStartedRequestRetainsItself() async throws {
    let gate = Gate()
    let store = try store(gate: gate)
    var request: ProductsRequest? = request(store)
    weak let weakRequest = request
    let delegate = RecordingDelegate()
    request?.delegate = delegate
    request?.start()
    await gate.arrival()
    request = nil
    #expect(weakRequest != nil)
    await gate.open()
    await delegate.wait(for: 2)
    for _ in 0..<1000 where weakRequest != nil { await letOtherTasksRun() }
    #expect(weakRequest == nil)
  }
}
