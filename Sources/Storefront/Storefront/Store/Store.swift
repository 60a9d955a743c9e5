// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import ReceiptCodec

/// The store of a payment queue, as one signed-in customer sees it: in this process (``LocalStore``), or over HTTP
/// (``HTTPStore``).
///
/// Every call is idempotent. A store recognises a repeated request by its identifier and gives the same answer. So
/// neither a lost answer nor a crash of either side sells anything twice.
public protocol Store: Sendable {
  /// Looks products up.
  ///
  /// - Parameters:
  ///   - identifiers: The requested products.
  ///   - preferredLocales: The languages that the customer reads, best first.
  /// - Returns: The products of the valid identifiers, and the other identifiers.
  /// - Throws: ``StoreError``, with `unknown` if the store cannot be reached.
  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse

  /// Processes a payment. A request with a known identifier gets the same answer as the first time.
  ///
  /// - Throws: ``StoreUnavailable`` if the outcome at the store is unknown.
  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome

  /// A page of the unfinished sales of this customer, oldest first: approved payments, sales whose answer was lost,
  /// renewals. A store may return fewer than `limit`.
  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage

  /// Finishes a transaction. If it is finished already, or unknown, this has no effect. After an error the call is
  /// repeated.
  func finish(transactionIdentifier: String) async throws(StoreUnavailable)

  /// Restores finished purchases, each as a new transaction. The store decides which products are restored. A request
  /// with a known identifier gives the same transactions as the first time.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - position: The position at which the previous page ended; `nil` for the first page.
  ///   - limit: The greatest number of purchases.
  /// - Returns: A page of purchases, and the position of the next one.
  /// - Throws: ``StoreError``, with `unknown` if the store cannot be reached.
  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage

  /// `true` if the customer may authorise payments; the default is `true`.
  var canMakePayments: Bool { get }

  /// Returns `true` if a product is registered with the store. The default is `true`, for a store that can only answer
  /// by a request.
  func isRegistered(_ productIdentifier: String) -> Bool

  /// A signal for each change that the customer's queue should fetch: a pending payment was decided, a subscription
  /// was renewed. There may be more signals than changes.
  ///
  /// - Returns: The signals. The default is `nil`, for a store without signals; the queue then polls.
  func changes() async -> AsyncStream<Void>?
}

extension Store {
  /// The default: `true`.
  public var canMakePayments: Bool { true }
  /// The default: `true`.
  public func isRegistered(_ productIdentifier: String) -> Bool { true }
  /// The default: `nil`, so the queue polls.
  public func changes() async -> AsyncStream<Void>? { nil }
}

/// A final error of the store (`SKError`). Nothing was charged.
public struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
  package init() { self.init(.unknown, "") }

  /// The domain of these error numbers (`SKErrorDomain`).
  public static let domain = "SKErrorDomain"

  /// The kind of failure.
  public package(set) var code: Code
  /// A sentence that describes the error and the remedy.
  public package(set) var message: String

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Domain, number and message, on one line.
  public var description: String { "\(Self.domain) \(code.rawValue): \(message)" }
}

extension StoreUnavailable: CustomStringConvertible {
  /// The message.
  public var description: String { "store unavailable: \(message)" }
}
