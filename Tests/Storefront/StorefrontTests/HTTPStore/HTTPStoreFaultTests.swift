// SPDX-License-Identifier: Apache-2.0

import ReceiptHTTP
import Storefront
import Testing

/// Faults between a client and the store never fail a payment.
@Suite struct HTTPStoreFaultTests {
  private let request = PurchaseRequest(id: "request-1", payment: Payment(productIdentifier: "coins"))

  private static let outcome = """
    {"requestIdentifier":"request-1","outcome":"purchased","transaction":{"transactionIdentifier":"7",\
    "originalTransactionIdentifier":"7","transactionDate":1760000000000,"payment":{"productIdentifier":"coins",\
    "quantity":1,"offer":{"promotional":{"identifier":"a","keyIdentifier":"b","nonce":"c","signature":"",\
    "timestamp":1}}},"receipt":"YWJj","downloads":[{"contentIdentifier":"a","contentVersion":"1","url":"u",\
    "contentLength":1,"sha256":""}]}}
    """

  @Test func aRequestIsRepeatedWithTheSameIdentifierAfterALostAnswer() async throws {
    let behind = ClosureStore()
    let transport = HandlerTransport(behind) { [.answerLost, .requestLost, .arrives][min($0, 2)] }
    let store = try StoreOverHTTP.store(transport, attempts: 3)
    #expect(try await store.purchase(request) == .pending)
    #expect(await transport.requests.count == 3)
    #expect(await behind.calls == [.purchase(request), .purchase(request)])
  }

  @Test(arguments: [HandlerTransport.Fate.answerLost, .requestLost])
  func persistentFailuresAreUnavailable(fate: HandlerTransport.Fate) async throws {
    let store = try StoreOverHTTP.store(HandlerTransport(ClosureStore()) { _ in fate }, attempts: 3)
    await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    await #expect(throws: StoreUnavailable.self) { try await store.finish(transactionIdentifier: "1") }
    await #expect(throws: StoreUnavailable.self) {
      try await store.unfinishedTransactions(after: nil, limit: 1)
    }
    let unknown = await #expect(throws: StoreError.self) {
      try await store.products(for: ["a"], preferredLocales: [])
    }
    #expect(unknown?.code == .unknown)
    let unrestored = await #expect(throws: StoreError.self) {
      try await store.restore(RestoreRequest(id: "1"), after: nil, limit: 1)
    }
    #expect(unrestored?.code == .unknown)
  }

  @Test(arguments: [
    100, 201, 204, 206, 300, 304, 400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 418, 422, 425, 429, 499,
    500,
    501, 502, 503, 504, 599,
  ])
  func noStatusFailsAPayment(status: Int) async throws {
    let body = #"{"code":"teapot","message":"no\ncoffee","place":"$.payment"}"#
    let store = try StoreOverHTTP.answering(body, status: status)
    let error = await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    #expect(
      error?.message
        == "The server gave no answer of its store (HTTP status \(status), teapot: no\u{FFFD}coffee ($.payment))."
    )
    #expect(error?.retryAfter == nil)
  }

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504]) func transientErrorsAreRetried(status: Int)
    async throws
  {
    let transport = HandlerTransport(ClosureStore()) {
      $0 == 0 ? .replaced(RemoteResponse(status: status)) : .arrives
    }
    #expect(try await StoreOverHTTP.store(transport, attempts: 2).purchase(request) == .pending)
  }

  @Test(arguments: [400, 401, 403, 404, 405, 413, 415, 422])
  func permanentErrorsAreNotRetried(status: Int) async throws {
    let transport = HandlerTransport(ClosureStore()) { _ in .replaced(RemoteResponse(status: status)) }
    let store = try StoreOverHTTP.store(transport, attempts: 5)
    await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    #expect(await transport.requests.count == 1)
  }

  @Test func redirectsAreNotFollowed() async throws {
    let location = HTTPHeader("Location", "https://elsewhere.example/")
    let store = try StoreOverHTTP.answering("", status: 307, [location])
    let error = await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    #expect(error?.message.contains("redirects (HTTP status 307)") == true)
  }

  @Test(arguments: [
    ("0", Duration.zero), ("7", .seconds(7)), ("90000", .seconds(86_400)),
    ("Thu, 09 Oct 2025 08:54:20 GMT", .seconds(60)), ("1760000000500", .milliseconds(500)),
    ("Thu, 01 Jan 1970 00:00:00 GMT", .zero), ("soon", nil), ("-1", nil),
  ])
  func retryAfterIsPassedOn(value: String, wait: Duration?) async throws {
    let store = try StoreOverHTTP.answering("", status: 503, [HTTPHeader("Retry-After", value)])
    let error = await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    #expect(error?.retryAfter == wait)
  }

  @Test(arguments: [
    (Duration.zero, 0), (.milliseconds(1), 1), (.seconds(3), 3), (.seconds(1_000_000), 86_400),
    (.seconds(-1), 0),
  ])
  func retryAfterIsSentInWholeSeconds(wish: Duration, seconds: Int) async throws {
    var answers = ClosureStore.Answers()
    answers.purchase = { _ throws(StoreUnavailable) in throw StoreUnavailable("busy", retryAfter: wish) }
    let store = try StoreOverHTTP.store(HandlerTransport(ClosureStore(answers)))
    let error = await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    #expect(error?.retryAfter == .seconds(seconds))
    #expect(error?.message.contains("unavailable: busy") == true)
  }

  @Test func cancellingStopsWaiting() async throws {
    let store = try StoreOverHTTP.store(
      HandlerTransport(ClosureStore()) { _ in .requestLost }, attempts: .max)
    let request = request
    let task = Task { try await store.purchase(request) }
    task.cancel()
    await #expect(throws: StoreUnavailable("The task was cancelled.")) { try await task.value }
  }

  // MARK: Unusable answers

  @Test func theSampleCanBeUsed() async throws {
    let outcome = try await StoreOverHTTP.answering(Self.outcome).purchase(request)
    guard case .purchased(let sale) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(sale.receipt == Array("abc".utf8))
    #expect(sale.downloads.count == 1)
  }

  @Test(arguments: [
    (#""outcome":"purchased""#, #""outcome":"sold""#, "$.outcome"),
    (#""outcome":"purchased""#, #""outcome":"failed""#, "$.error"),
    (#""outcome":"purchased","#, "", "$.outcome"),
    (#""transaction":{"#, #""x":{"#, "$.transaction"),
    (#""request-1""#, #""request-2""#, "$.requestIdentifier"),
    (#""transactionIdentifier":"7","#, "", "$.transaction.transactionIdentifier"),
    ("1760000000000", #""today""#, "$.transaction.transactionDate"),
    ("1760000000000", "1e300", "$.transaction.transactionDate"),
    (#""quantity":1"#, #""quantity":1.5"#, "$.transaction.payment.quantity"),
    (#""quantity":1"#, #""quantity":99999999999999999999"#, "$.transaction.payment.quantity"),
    (#""quantity":1"#, #""quantity":1,"requestData":"a""#, "$.transaction.payment.requestData"),
    (#""promotional""#, #""other""#, "$.transaction.payment.offer"),
    (#"{"promotional""#, #"{"code":"x","promotional""#, "$.transaction.payment.offer"),
    (#""signature":"""#, #""signature":"!""#, "$.transaction.payment.offer.promotional.signature"),
    ("YWJj", "YWJ", "$.transaction.receipt"),
    (#""contentLength":1"#, #""contentLength":"1""#, "$.transaction.downloads[0].contentLength"),
  ])
  func aDamagedAnswerIsUnavailableWithItsPath(find: String, replace: String, place: String) async throws {
    let damaged = Self.outcome.replacing(find, with: replace, maxReplacements: 1)
    #expect(damaged != Self.outcome)
    let error = await #expect(throws: StoreUnavailable.self) {
      try await StoreOverHTTP.answering(damaged).purchase(request)
    }
    #expect(error?.message.contains("(\(place))") == true, "\(error?.message ?? "")")
  }

  @Test func aTruncatedAnswerIsNeverAccepted() async throws {
    let bytes = Array(Self.outcome.utf8)
    for count in 0..<bytes.count {
      let store = try StoreOverHTTP.answering(RemoteResponse(status: 200, body: Array(bytes.prefix(count))))
      await #expect(throws: StoreUnavailable.self) { try await store.purchase(request) }
    }
  }

  @Test func unknownMembersAreIgnored() async throws {
    let more = Self.outcome.replacing("{", with: #"{"new":{"a":[1,null]},"#)
    let outcome = try await StoreOverHTTP.answering(more).purchase(request)
    #expect(try await StoreOverHTTP.answering(Self.outcome).purchase(request) == outcome)
  }

  @Test(arguments: [
    (#"{"products":[],"invalidProductIdentifiers":[]}"#, "$.products"),
    (#"{"products":[],"invalidProductIdentifiers":["a","a"]}"#, "$.products"),
    (#"{"products":[],"invalidProductIdentifiers":["a","b"]}"#, "$.products"),
    (#"{"invalidProductIdentifiers":["a"]}"#, "$.products"),
    (#"{"products":[{"productIdentifier":"a","price":4.99}]}"#, "$.products[0].price"),
    (#"{"products":[{"price":"4,99"}]}"#, "$.products[0].price"),
    (#"{"products":[{"price":"--1"}]}"#, "$.products[0].price"),
    (#"{"products":[{"price":"1."}]}"#, "$.products[0].price"),
    (#"{"products":[{"price":"1e5"}]}"#, "$.products[0].price"),
    (#"{"products":[{"price":"123456789012345678901234567890123456789"}]}"#, "$.products[0].price"),
    (#"{"products":[{"priceLocale":""}]}"#, "$.products[0].priceLocale"),
    (#"{"products":[{"subscription":{"period":"P0M"}}]}"#, "$.products[0].subscription.period"),
  ])
  func productsThatCannotBeUsedSayWhere(json: String, place: String) async throws {
    let error = await #expect(throws: StoreError.self) {
      try await StoreOverHTTP.answering(json).products(for: ["a"], preferredLocales: [])
    }
    #expect(error?.code == .unknown)
    #expect(error?.message.contains("(\(place))") == true, "\(error?.message ?? "")")
  }

  @Test func pagingTerminates() async throws {
    let again = try StoreOverHTTP.answering(#"{"transactions":[],"next":"5"}"#)
    let error = await #expect(throws: StoreUnavailable.self) {
      try await again.unfinishedTransactions(after: StorePosition(rawValue: "5"), limit: 1)
    }
    #expect(error?.message.contains("($.next)") == true)
    let page = try await again.unfinishedTransactions(after: nil, limit: 1)
    #expect(page.next == StorePosition(rawValue: "5"))
    let sale =
      #"{"transactionIdentifier":"7","originalTransactionIdentifier":"7","transactionDate":1,"#
      + #""payment":{"productIdentifier":"a","quantity":1},"receipt":""}"#
    let long = try StoreOverHTTP.answering("{\"transactions\":[\(sale),\(sale)]}")
    let tooLong = await #expect(throws: StoreUnavailable.self) {
      try await long.unfinishedTransactions(after: nil, limit: 1)
    }
    #expect(tooLong?.message.contains("($.transactions)") == true)
    #expect(try await long.unfinishedTransactions(after: nil, limit: 2).transactions.count == 2)
  }

  @Test func anAnswerToAnotherFinishIsRefused() async throws {
    let store = try StoreOverHTTP.answering(#"{"transactionIdentifier":"8"}"#)
    await #expect(throws: StoreUnavailable.self) { try await store.finish(transactionIdentifier: "7") }
    try await store.finish(transactionIdentifier: "8")
  }

  @Test func theTokenIsSentAndNeverShown() async throws {
    let transport = HandlerTransport(ClosureStore(), token: "s3cret")
    let store = try StoreOverHTTP.store(transport, token: Secret("s3cret"))
    #expect(try await store.purchase(request) == .pending)
    var shown = "\(store) \(String(reflecting: store))"
    dump(store, to: &shown)
    #expect(!shown.contains("s3cret"))
    let other = try StoreOverHTTP.store(transport, token: Secret("other"))
    let error = await #expect(throws: StoreUnavailable.self) { try await other.purchase(request) }
    #expect(error?.message.contains("HTTP status 401") == true)
    #expect(error?.message.contains("other") == false)
  }

  @Test func noBytesMakeItCrash() async throws {
    var values = RandomValues(seed: 5)
    let sample = Array(Self.outcome.utf8)
    for round in 0..<400 {
      var bytes = round.isMultiple(of: 4) ? values.bytes(0...200) : sample
      if !round.isMultiple(of: 4) {
        for _ in 0..<Int.random(in: 1...4, using: &values) {
          bytes[Int.random(in: 0..<bytes.count, using: &values)] = UInt8.random(in: 0...255, using: &values)
        }
      }
      let store = try StoreOverHTTP.answering(RemoteResponse(status: 200, body: bytes))
      _ = try? await store.purchase(request)
      _ = try? await store.products(for: ["a"], preferredLocales: [])
      _ = try? await store.restore(RestoreRequest(id: "1"), after: nil, limit: 1)
      _ = try? await store.unfinishedTransactions(after: nil, limit: 1)
      _ = try? await store.finish(transactionIdentifier: "a")
    }
  }
}
