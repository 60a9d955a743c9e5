// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront

/// A simple store: it charges at most once for each request, stores every answer, and lists unfinished sales. Products
/// that begin with `book` are non-consumable.
///
/// Any of its calls can lose the request or the answer.
actor FakeStore: Store {
  /// The part of a call that is lost.
  enum Loss: Sendable { case request, answer }

  /// The decision about a payment.
  enum Decision: Sendable { case approve, decline(StoreError), ask }

  struct Sale: Sendable {
    var transaction: StoreTransaction
    var isFinished = false
    /// `true` if it can be restored: the first sale of a non-consumable product.
    var isRestorable = false
  }

  /// The number of charges by request: at most 1.
  private(set) var charges: [String: Int] = [:]
  /// The answers to decided requests.
  private(set) var decided: [String: PurchaseOutcome] = [:]
  private(set) var waiting: [String: PurchaseRequest] = [:]
  private(set) var sales: [Sale] = []
  /// The identifiers of received finishes, including repeated ones.
  private(set) var finishes: [String] = []
  /// Each call, in order.
  private(set) var calls: [String] = []
  private var restorations: [String: [RestoredTransaction]] = [:]
  private var losses: [Int: Loss] = [:]
  private var restorationLosses: [Int: Loss] = [:]
  private var finishLoss: Loss?
  private var pages = 0
  private var decide: @Sendable (Payment) -> Decision = { _ in .approve }
  private var restoreError: StoreError?
  private var isDown = false
  private var holding = false
  private var held: [CheckedContinuation<Void, Never>] = []
  private let listeners = Watchers()
  private var largestPage = Int.max
  /// Snapshots of the lists of sales, if frozen.
  private var lists: [[StoreTransaction]]?

  // MARK: Control

  func decide(_ decide: @escaping @Sendable (Payment) -> Decision) { self.decide = decide }

  /// Loses part of a call, counted from now as 1.
  func lose(_ loss: Loss, ofCall number: Int) { losses[calls.count + number] = loss }

  /// Loses part of a page of a restoration, counted from now as 1.
  func lose(_ loss: Loss, ofRestoration number: Int) { restorationLosses[pages + number] = loss }

  /// Loses part of every finish; `nil` for none.
  func loseFinishes(_ loss: Loss?) { finishLoss = loss }

  func loseNothing() {
    losses = [:]
    restorationLosses = [:]
  }

  func setDown(_ isDown: Bool) { self.isDown = isDown }

  func fail(restoring error: StoreError?) { restoreError = error }

  func limitPages(to count: Int) { largestPage = count }

  /// From now on all pages of a list of sales show the state at the request of the first page.
  func freezeLists() { lists = [] }

  /// Delays the answers to purchases and frozen lists until `release()`.
  func hold() { holding = true }

  func release() {
    holding = false
    for continuation in held { continuation.resume() }
    held = []
  }

  /// Decides a pending payment.
  func decide(_ request: String, _ decision: Decision) {
    guard let waiting = waiting[request] else { return }
    _ = process(waiting, decision)
  }

  /// Makes a sale without a request, such as a renewal.
  @discardableResult
  func renew(_ product: String) -> StoreTransaction {
    sell(Payment(productIdentifier: product), request: nil)
  }

  /// Waits for a number of calls.
  func calls(reach count: Int) async throws {
    while case let seen = listeners.changes, calls.count < count { try await listeners.change(after: seen) }
  }

  var unfinished: [StoreTransaction] { sales.filter { !$0.isFinished }.map { $0.transaction } }

  // MARK: Store

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse {
    ProductsResponse(products: [], invalidProductIdentifiers: identifiers.sorted())
  }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
    let loss = count("purchase \(request.id)")
    if holding { await withCheckedContinuation { held.append($0) } }
    try lose(loss, .request)
    let answer = decided[request.id] ?? process(request, decide(request.payment))
    try lose(loss, .answer)
    return answer
  }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    let loss = count("unfinished \(position?.rawValue ?? "")")
    try lose(loss, .request)
    if lists != nil { return await frozenPage(after: position, limit: min(limit, largestPage)) }
    let start = position.flatMap { Int($0.rawValue) } ?? 0
    let end = min(sales.count, start + min(limit, largestPage))
    let page = sales[min(start, end)..<end].filter { !$0.isFinished }.map { $0.transaction }
    try lose(loss, .answer)
    return StoreTransactionPage(
      transactions: page, next: end < sales.count ? StorePosition(rawValue: "\(end)") : nil)
  }

  private func frozenPage(after position: StorePosition?, limit: Int) async -> StoreTransactionPage {
    let place = position?.rawValue.split(separator: "/").compactMap { Int($0) } ?? [lists?.count ?? 0, 0]
    if position == nil { lists?.append(unfinished) }
    if holding { await withCheckedContinuation { held.append($0) } }
    let list = lists?[place[0]] ?? []
    let end = min(list.count, place[1] + limit)
    return StoreTransactionPage(
      transactions: Array(list[min(place[1], end)..<end]),
      next: end < list.count ? StorePosition(rawValue: "\(place[0])/\(end)") : nil)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
    let loss = count("finish \(transactionIdentifier)") ?? finishLoss
    try lose(loss, .request)
    finishes.append(transactionIdentifier)
    for index in sales.indices where sales[index].transaction.transactionIdentifier == transactionIdentifier {
      sales[index].isFinished = true
    }
    try lose(loss, .answer)
  }

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    let counted = count("restore \(request.id) \(position?.rawValue ?? "")")
    pages += 1
    let loss = counted ?? restorationLosses[pages]
    do { try lose(loss, .request) } catch { throw StoreError(.unknown, error.message) }
    if let restoreError { throw restoreError }
    let all = restorations[request.id] ?? restoration(request)
    restorations[request.id] = all
    let start = position.flatMap { Int($0.rawValue) } ?? 0
    let end = min(all.count, start + min(limit, largestPage))
    do { try lose(loss, .answer) } catch { throw StoreError(.unknown, error.message) }
    return RestoredTransactionPage(
      transactions: Array(all[min(start, end)..<end]),
      next: end < all.count ? StorePosition(rawValue: "\(end)") : nil)
  }

  // MARK: Selling

  private func count(_ call: String) -> Loss? {
    calls.append(call)
    listeners.wake()
    return losses[calls.count]
  }

  private func lose(_ planned: Loss?, _ loss: Loss) throws(StoreUnavailable) {
    if isDown, loss == .request { throw StoreUnavailable("The store is down.") }
    if planned == loss { throw StoreUnavailable("The \(loss) was lost.") }
  }

  private func process(_ request: PurchaseRequest, _ decision: Decision) -> PurchaseOutcome {
    switch decision {
    case .ask:
      waiting[request.id] = request
      return .pending
    case .decline(let error):
      waiting[request.id] = nil
      decided[request.id] = .failed(error)
      return .failed(error)
    case .approve:
      waiting[request.id] = nil
      charges[request.id, default: 0] += isOwned(request.payment.productIdentifier) ? 0 : 1
      let sale = sell(request.payment, request: request.id)
      decided[request.id] = .purchased(sale)
      return .purchased(sale)
    }
  }

  private func isOwned(_ product: String) -> Bool {
    product.hasPrefix("book") && sales.contains { $0.transaction.payment.productIdentifier == product }
  }

  private func sell(_ payment: Payment, request: String?) -> StoreTransaction {
    let product = payment.productIdentifier
    let number = "s\(1000 + sales.count)"
    let first = sales.first { $0.isRestorable && $0.transaction.payment.productIdentifier == product }
    let transaction = StoreTransaction(
      transactionIdentifier: number,
      originalTransactionIdentifier: first?.transaction.transactionIdentifier ?? number,
      transactionDate: Timestamp(secondsSince1970: 1_760_000_000 + Int64(sales.count)), payment: payment,
      requestIdentifier: request, receipt: Array("receipt of \(number)".utf8))
    sales.append(Sale(transaction: transaction, isRestorable: product.hasPrefix("book") && first == nil))
    return transaction
  }

  private func restoration(_ request: RestoreRequest) -> [RestoredTransaction] {
    let username = request.applicationUsername
    return sales.filter { sale in
      sale.isRestorable && sale.isFinished
        && (username == nil || sale.transaction.payment.applicationUsername == username)
    }.enumerated().map { offset, sale in
      var copy = sale.transaction
      copy.transactionIdentifier = "\(request.id)-\(offset)"
      copy.requestIdentifier = nil
      copy.receipt = Array("receipt of \(copy.transactionIdentifier)".utf8)
      return RestoredTransaction(transaction: copy, original: sale.transaction)
    }
  }
}
