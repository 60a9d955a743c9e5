// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

/// The store behind a queue, as one signed-in customer sees it: in this process (``LocalStore``), or over HTTP
/// (``HTTPStore``).
///
/// Every call is idempotent. A store recognises a repeated request by its identifier and gives the same answer, so that
/// neither a lost answer nor a crash of either side sells anything twice.
public protocol Store: Sendable {
  /// Looks products up.
  ///
  /// - Parameters:
  ///   - identifiers: The requested products.
  ///   - preferredLocales: The languages that the customer reads, best first.
  /// - Returns: The products of the valid identifiers, and the other identifiers.
  /// - Throws: ``StoreError``, with `unknown` when the store cannot be reached.
  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse

  /// Processes a payment. A request with a known identifier gets the same answer as the first time.
  ///
  /// - Throws: ``StoreUnavailable`` if it is not known what the store did.
  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome

  /// A page of the unfinished sales of this customer, oldest first: approved payments, sales whose answer was lost,
  /// renewals. A store may return fewer than `limit`.
  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage

  /// Finishes a transaction. Finishing it again, or an unknown one, has no effect. After an error the call is repeated.
  func finish(transactionIdentifier: String) async throws(StoreUnavailable)

  /// Restores finished purchases, each as a new transaction. The store decides which products are restored. A request
  /// with a known identifier gives the same transactions as the first time.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - position: Where the page before ended; `nil` for the first page.
  ///   - limit: The greatest number of purchases.
  /// - Returns: A page of purchases, and the position of the next one.
  /// - Throws: ``StoreError``, with `unknown` when the store cannot be reached.
  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage

  /// Indicates whether the customer may authorise payments; `true` by default.
  var canMakePayments: Bool { get }

  /// Indicates whether a product is registered with the store; `true` by default, where only a request can tell.
  func isRegistered(_ productIdentifier: String) -> Bool

  /// A signal for each change that the customer's queue should fetch: a pending payment was decided, a subscription was
  /// renewed. It may be given too often.
  ///
  /// - Returns: The signals; `nil`, the default, for a store that gives none: the queue then polls.
  func changes() async -> AsyncStream<Void>?
}

extension Store {
  /// True.
  public var canMakePayments: Bool { true }
  /// True.
  public func isRegistered(_ productIdentifier: String) -> Bool { true }
  /// None: the queue polls.
  public func changes() async -> AsyncStream<Void>? { nil }
}

/// The store's answer to a payment.
public enum PurchaseOutcome: Sendable, Hashable {
  /// Sold.
  case purchased(StoreTransaction)
  /// Waiting for approval. Once approved, the sale is among ``Store/unfinishedTransactions(after:limit:)``, and a
  /// repeated request returns it.
  case pending
  /// Failed permanently.
  case failed(StoreError)
}

/// An opaque position in a store's list.
public struct StorePosition: JSONEnumeration, Sendable, Hashable {
  /// The store's text.
  public let rawValue: String

  /// Creates a position from a store's text.
  public init(rawValue: String) { self.rawValue = rawValue }
}
