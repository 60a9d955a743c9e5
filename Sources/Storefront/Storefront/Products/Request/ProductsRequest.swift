// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Synchronization

/// Requests localised information about products from the store (`SKRequest`, `SKProductsRequest`).
///
/// ```swift
/// let request = ProductsRequest(productIdentifiers: ["com.example.coins"], store: store)
/// let response = try await request.response()
/// ```
///
/// To use a delegate as in StoreKit, set ``delegate`` and call ``start()``; ``cancel()`` cancels the request. A
/// started request retains itself until it is done. It does not retain its delegate.
public final class ProductsRequest: Sendable {
  package let productIdentifiers: Set<String>
  /// The languages that the customer reads, best first.
  package let preferredLocales: [Locale]

  private let store: any Store
  private let report: (@Sendable (InvalidProductIdentifiers) async -> Void)?
  private let log: @Sendable (String) -> Void
  private let state: Mutex<State>
  private let delivery: ProductsDelivery

  private struct State {
    weak var delegate: (any ProductsRequestDelegate)?
    var wasStarted = false
    var task: Task<Void, Never>?
  }

  /// Creates a request (`initWithProductIdentifiers:`).
  /// - Parameters:
  ///   - productIdentifiers: The products to request. No call lists all products of a store.
  ///   - store: The store.
  ///   - preferredLocales: The languages that the customer reads, best first.
  ///   - report: Receives identifiers that the store does not know, which are errors in the list of identifiers or in
  ///     the store's catalogue. Show them prominently in development. In production, report them to the vendor's own
  ///     server; customers can still buy the other products. They are always logged, and listed separately in the
  ///     response.
  ///   - log: Receives warnings, one line each.
  public init(
    productIdentifiers: Set<String>, store: any Store, preferredLocales: [Locale] = [.current],
    report: (@Sendable (InvalidProductIdentifiers) async -> Void)? = nil,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.productIdentifiers = productIdentifiers
    self.preferredLocales = preferredLocales
    self.store = store
    self.report = report
    self.log = log
    state = Mutex(State())
    delivery = ProductsDelivery()
  }

  // MARK: Async

  /// Sends the request to the store.
  ///
  /// Each call sends a new request, independent of ``start()`` and ``cancel()``. To cancel it, cancel the task.
  ///
  /// - Returns: A product for each valid identifier, in the store's order, and the other identifiers, sorted. Products
  ///   that were not requested are ignored.
  /// - Throws: ``StoreError``. A cancelled task also throws `unknown`.
  public func response() async throws(StoreError) -> ProductsResponse {
    guard !productIdentifiers.isEmpty else { return ProductsResponse(products: []) }
    let answer = try await store.products(for: productIdentifiers, preferredLocales: preferredLocales)
    guard !Task.isCancelled else { throw StoreError(.unknown, "The products request was cancelled.") }
    let response = checked(answer)
    if let invalid = InvalidProductIdentifiers(response.invalidProductIdentifiers) {
      log(invalid.description)
      await report?(invalid)
    }
    return response
  }

  /// Makes a response that contains each requested identifier exactly once, even if the store's answer does not.
  private func checked(_ answer: ProductsResponse) -> ProductsResponse {
    var missing = productIdentifiers
    let products = answer.products.filter { missing.remove($0.productIdentifier) != nil }
    if products.count < answer.products.count {
      log("The store returned products that were not requested, or one twice; they are ignored.")
    }
    return ProductsResponse(products: products, invalidProductIdentifiers: missing.sorted())
  }

  // MARK: Delegate

  /// The delegate (`delegate`), a weak reference. Set it before ``start()``.
  public var delegate: (any ProductsRequestDelegate)? {
    get { state.withLock { $0.delegate } }
    set { state.withLock { $0.delegate = newValue } }
  }

  /// Sends the request (`start`). The delegate receives the response and then the end of the request, or only the
  /// error. A request is sent once. Starting it again, or after it was cancelled, has no effect.
  public func start() {
    state.withLock { state in
      guard !state.wasStarted else { return }
      state.wasStarted = true
      // The task retains the request until it is done.
      state.task = Task { await self.run() }
    }
  }

  /// Cancels the request (`cancel`). After this returns, the delegate receives no further call, and no error for the
  /// cancellation. A call in progress has ended, unless that call is the one that cancels.
  public func cancel() async {
    let task = state.withLock { state in
      state.wasStarted = true
      return state.task
    }
    // Close first, so that the error of the cancelled task does not reach the delegate.
    await delivery.close()
    task?.cancel()
    await delivery.ended()
  }

  private func run() async {
    do throws(StoreError) {
      let response = try await response()
      await deliver { await $0.productsRequest(self, didReceive: response) }
      await deliver { await $0.requestDidFinish(self) }
    } catch {
      await deliver { await $0.request(self, didFailWith: error) }
    }
    await delivery.close()
    state.withLock { $0.task = nil }
  }

  private func deliver(_ call: @escaping @Sendable (any ProductsRequestDelegate) async -> Void) async {
    guard let delegate else { return }
    await delivery.perform { await call(delegate) }
  }
}

/// Forwards calls to a delegate until it is closed. The caller of ``close()`` can wait for the call in progress. After
/// that, no call begins or runs on any thread or actor.
actor ProductsDelivery {
  private var isClosed = false
  private var isDelivering = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// The deliveries whose calls the current task is part of. A call that closes its own delivery must not wait for
  /// itself.
  @TaskLocal private static var current: [ProductsDelivery] = []

  /// Makes the call, unless closed. Calls do not overlap.
  func perform(_ call: @Sendable () async -> Void) async {
    guard !isClosed else { return }
    isDelivering = true
    await Self.$current.withValue(Self.current + [self]) { await call() }
    isDelivering = false
    let resumed = waiting
    waiting = []
    for continuation in resumed { continuation.resume() }
  }

  /// Prevents further calls.
  func close() { isClosed = true }

  /// Waits for the call in progress, unless this is called from within it.
  func ended() async {
    guard isDelivering, !Self.current.contains(where: { $0 === self }) else { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}

/// The delegate of a products request (`SKRequestDelegate`, `SKProductsRequestDelegate`).
public protocol ProductsRequestDelegate: AnyObject, Sendable {
  /// The response was received (`productsRequest:didReceiveResponse:`). ``requestDidFinish(_:)`` follows.
  func productsRequest(_ request: ProductsRequest, didReceive response: ProductsResponse) async

  /// The request finished (`requestDidFinish:`). No further call follows; the request may be released.
  func requestDidFinish(_ request: ProductsRequest) async

  /// The request failed (`request:didFailWithError:`). ``requestDidFinish(_:)`` is not called; the request may be
  /// released.
  func request(_ request: ProductsRequest, didFailWith error: StoreError) async
}

extension ProductsRequestDelegate {
  /// Does nothing.
  public func requestDidFinish(_ request: ProductsRequest) async {}

  /// Does nothing.
  public func request(_ request: ProductsRequest, didFailWith error: StoreError) async {}
}

/// Identifiers that the store does not know.
public struct InvalidProductIdentifiers: Error, Sendable, Hashable, CustomStringConvertible {
  /// The identifiers, sorted; at least one.
  public let identifiers: [String]

  package init?(_ identifiers: [String]) {
    guard !identifiers.isEmpty else { return nil }
    self.identifiers = identifiers.sorted()
  }

  /// The identifiers and the remedy, on one line.
  public var description: String {
    let names = identifiers.map { "\"\($0)\"" }.joined(separator: ", ")
    return "invalid-product-identifiers: the store does not sell \(names); correct the list of product "
      + "identifiers, or add them to the store's catalogue and put them up for sale."
  }
}
