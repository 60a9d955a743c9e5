// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

/// A call of the store protocol. Each is a `POST` of a JSON object to `BASE/v1/NAME`.
enum StoreCall: String, Sendable, CaseIterable {
  case products, purchase, unfinished, finish, restore

  /// The version of the protocol. An incompatible change needs a new one.
  static let version = "v1"

  var pathSegments: [String] { [Self.version, rawValue] }
}

/// Limits that both sides of the protocol observe.
enum StoreProtocolLimits {
  /// The greatest number of product identifiers in one request. Clients split longer lists.
  static let maximumProductIdentifierCount = 500
  /// The greatest number of languages in one request. Clients drop the least preferred ones.
  static let maximumLocaleCount = 50
  static let maximumRequestByteCount = 1 << 20
  static let maximumResponseByteCount = 8 << 20
  /// The greatest JSON nesting, with room for future members.
  static let maximumDepth = 16
}

/// The greatest number of transactions in an answer: at least 1, at most 100.
struct PageLimit: JSONFieldValue, Sendable, Hashable {
  static let unread = PageLimit(1)

  let count: Int

  init(_ count: Int) { self.count = min(max(count, 1), 100) }

  init(from json: inout JSONReader) throws(MalformedReceipt) {
    let count = try Int(from: &json)
    guard count >= 1 else { throw json.fieldFailure(.outOfRange, "expected a limit of at least 1.") }
    self.init(count)
  }

  func write(to json: inout JSONWriter) { count.write(to: &json) }
}

// MARK: Answers

extension ProductsAnswer {
  /// The response, or the store's refusal. The answer must cover exactly the requested identifiers.
  func value(
    askedFor identifiers: Set<String>
  ) throws(MalformedReceipt) -> Result<ProductsResponse, StoreError> {
    if let error { return .failure(error) }
    let products = try required(products, "products")
    let invalid = invalidProductIdentifiers ?? []
    let answered = products.map(\.productIdentifier) + invalid
    guard answered.count == identifiers.count, Set(answered) == identifiers else {
      throw MalformedReceipt(
        .invalidValue, at: .jsonPath("$.products"),
        "Each of the \(identifiers.count) identifiers asked for is either a product or invalid, once.")
    }
    return .success(ProductsResponse(products: products, invalidProductIdentifiers: invalid))
  }
}

extension PurchaseAnswer {
  init(_ outcome: PurchaseOutcome, to requestIdentifier: String) {
    switch outcome {
    case .purchased(let transaction):
      self.init(requestIdentifier: requestIdentifier, outcome: "purchased", transaction: transaction)
    case .pending: self.init(requestIdentifier: requestIdentifier, outcome: "pending")
    case .failed(let error): self.init(requestIdentifier: requestIdentifier, outcome: "failed", error: error)
    }
  }

  /// The outcome of the payment.
  func value(to request: PurchaseRequest) throws(MalformedReceipt) -> PurchaseOutcome {
    try checkAnswer(requestIdentifier, to: request.id)
    switch outcome {
    case "purchased": return .purchased(try required(transaction, "transaction"))
    case "pending": return .pending
    case "failed": return .failed(try required(error, "error"))
    default:
      throw MalformedReceipt(
        .invalidValue, at: .jsonPath("$.outcome"), "The outcome must be purchased, pending or failed.")
    }
  }
}

extension RestoreAnswer {
  /// The page, or the store's refusal.
  func value(
    to message: RestoreMessage
  ) throws(MalformedReceipt) -> Result<RestoredTransactionPage, StoreError> {
    try checkAnswer(requestIdentifier, to: message.requestIdentifier)
    if let error { return .failure(error) }
    let transactions = try required(transactions, "transactions")
    try checkPage(of: transactions.count, next: next, after: message.after, message.limit)
    return .success(RestoredTransactionPage(transactions: transactions, next: next))
  }
}

func checkAnswer(
  _ answered: String, to asked: String, at member: String = "requestIdentifier"
) throws(MalformedReceipt) {
  guard UTF8Text.isIdentical(answered, asked) else {
    throw MalformedReceipt(.invalidValue, at: .jsonPath("$.\(member)"), "The answer is to another request.")
  }
}

/// Checks that a page is no longer than requested, and that the next position differs from this one, so that paging
/// terminates.
func checkPage(
  of count: Int, next: StorePosition?, after: StorePosition?, _ limit: PageLimit
) throws(MalformedReceipt) {
  guard count <= limit.count else {
    throw MalformedReceipt(
      .tooLarge, at: .jsonPath("$.transactions"), "At most \(limit.count) were asked for, \(count) came.")
  }
  guard next == nil || next != after else {
    throw MalformedReceipt(.invalidValue, at: .jsonPath("$.next"), "The next page is this one again.")
  }
}

private func required<Value>(_ value: Value?, _ member: String) throws(MalformedReceipt) -> Value {
  if let value { return value }
  throw MalformedReceipt(
    .missing, at: .jsonPath("$.\(member)"), "The answer has neither this member nor an error.")
}

// MARK: Problems

extension StoreProblem {
  /// A problem that our server reports: its code, and the status of the response (RFC 9110 section 15).
  struct Kind: Sendable {
    let code: String
    let status: Int

    static let malformedRequest = Kind(code: "malformed-request", status: 400)
    static let unauthorized = Kind(code: "unauthorized", status: 401)
    static let notFound = Kind(code: "not-found", status: 404)
    static let methodNotAllowed = Kind(code: "method-not-allowed", status: 405)
    static let requestTooLarge = Kind(code: "request-too-large", status: 413)
    static let unsupportedMediaType = Kind(code: "unsupported-media-type", status: 415)
    static let unavailable = Kind(code: "unavailable", status: 503)
  }
}
