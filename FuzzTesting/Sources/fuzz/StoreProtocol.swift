// SPDX-License-Identifier: Apache-2.0

import Dispatch
import FoundationEssentials
import ReceiptHTTP
import Storefront

/// Both halves of the store protocol. The first byte says what the rest is: 0 to 4 a request, 5 to 9 an answer; of
/// products, purchase, unfinished, finish, restore.
func fuzzStoreProtocol(_ bytes: [UInt8]) {
  guard let mode = bytes.first, mode < 10 else { return }
  let body = Array(bytes.dropFirst())
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    if mode < 5 {
      await check(request: body, to: paths[Int(mode)])
    } else {
      await check(answer: body, mode - 5)
    }
    done.signal()
  }
  done.wait()
}

private let paths = ["/v1/products", "/v1/purchase", "/v1/unfinished", "/v1/finish", "/v1/restore"]

private func check(request body: [UInt8], to path: String) async {
  let response = await StoreRequestHandler { _ in SilentStore() }.response(
    method: "POST", path: path, headers: [HTTPHeader("Content-Type", "application/json")], body: body)
  require([200, 400, 413].contains(response.status), "the status is \(response.status)")
}

private func check(answer body: [UInt8], _ mode: UInt8) async {
  let store = over(Canned(body: body))
  let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "a"))
  switch mode {
  case 0: _ = try? await store.products(for: ["a"], preferredLocales: [])
  case 1:
    guard let outcome = try? await store.purchase(request) else { return }
    // The outcome that was read is the same after the other half writes it and this half reads it again.
    let again = try? await over(Joined(SilentStore(outcome: outcome))).purchase(request)
    require(again == outcome, "the outcome changed")
  case 2: _ = try? await store.unfinishedTransactions(after: nil, limit: 100)
  case 3: _ = try? await store.finish(transactionIdentifier: "1")
  default: _ = try? await store.restore(RestoreRequest(id: "1"), after: nil, limit: 100)
  }
}

private func over(_ transport: any HTTPTransport) -> HTTPStore {
  HTTPStore(
    mustSucceed("the URL is one") { try RemoteURL("https://store.example") }, transport: transport,
    retry: RetryPolicy(maximumAttempts: 1))
}

/// Answers everything alike.
private struct Canned: HTTPTransport {
  let body: [UInt8]

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    RemoteResponse(status: 200, body: body)
  }
}

/// Joins both halves.
private struct Joined: HTTPTransport {
  let store: SilentStore

  init(_ store: SilentStore) { self.store = store }

  func send(_ request: RemoteRequest) async throws(HTTPTransportError) -> RemoteResponse {
    await StoreRequestHandler { _ in store }.response(
      method: request.method.rawValue, path: request.url.path, headers: request.headers,
      body: request.body ?? [])
  }
}

/// Knows nothing, and says one thing to payments.
private struct SilentStore: Store {
  var outcome = PurchaseOutcome.pending

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse {
    ProductsResponse(products: [], invalidProductIdentifiers: identifiers.sorted())
  }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome { outcome }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    require(1...100 ~= limit, "the limit is \(limit)")
    return StoreTransactionPage(transactions: [], next: nil)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {}

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    RestoredTransactionPage(transactions: [], next: nil)
  }
}
