// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// The store behind a queue, as one signed-in customer sees it: in this process (``LocalStore``), or over HTTP
/// (``HTTPStore``).
///
/// Everything may be asked again. A store recognises what it has done already by the identifiers, and answers as it did
/// then; so that neither a lost answer nor a crash of either side sells anything twice.
public protocol Store: Sendable {
  /// Looks products up.
  ///
  /// - Parameters:
  ///   - identifiers: The products wanted.
  ///   - preferredLocales: The languages that the customer reads, best first.
  /// - Returns: The products of the valid identifiers, and the other identifiers.
  /// - Throws: ``StoreError``, with `unknown` when the store cannot be reached.
  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse

  /// Processes a payment. A request with an identifier that the store knows is answered as the first time.
  ///
  /// - Throws: ``StoreUnavailable`` when it is not known what the store did.
  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome

  /// Sales of this customer that were not finished, oldest first: those that were waiting for an approval, those whose
  /// answer was lost, renewals.
  ///
  /// - Parameters:
  ///   - position: Where the page before ended; `nil` for the first page.
  ///   - limit: At most so many sales; a store may give fewer.
  /// - Returns: Some of the sales, and where to go on.
  /// - Throws: ``StoreUnavailable``.
  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage

  /// Says that the customer has what was sold. Finished again is finished; an unknown identifier is no error.
  ///
  /// - Throws: ``StoreUnavailable`` when it must be said again.
  func finish(transactionIdentifier: String) async throws(StoreUnavailable)

  /// Gives finished purchases again, each as a new transaction. Which ones is the store's decision, by product. A
  /// request with an identifier that the store knows gives the same transactions as the first time.
  ///
  /// - Parameters:
  ///   - request: Whose purchases.
  ///   - position: Where the page before ended; `nil` for the first page.
  ///   - limit: At most so many purchases.
  /// - Returns: Some of the purchases, and where to go on.
  /// - Throws: ``StoreError``, with `unknown` when the store cannot be reached.
  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage
}

/// A payment that is sent to a store.
public struct PurchaseRequest: Sendable, Hashable {
  /// Unique for each payment that is added to a queue; the same however often it is sent.
  public let id: String
  /// The payment.
  public let payment: Payment

  /// Creates a request.
  public init(id: String, payment: Payment) {
    self.id = id
    self.payment = payment
  }
}

/// What a store says to a payment.
public enum PurchaseOutcome: Sendable, Hashable {
  /// Sold.
  case purchased(StoreTransaction)
  /// Waiting for somebody's approval. If it is given, the sale is among ``Store/unfinishedTransactions(after:limit:)``;
  /// asking for it again tells, too.
  case pending
  /// Not sold, for good.
  case failed(StoreError)
}

/// A place in a store's list, as the store spells it.
public struct StorePosition: RawRepresentable, Sendable, Hashable {
  /// The store's text.
  public let rawValue: String

  /// Creates a position from a store's text.
  public init(rawValue: String) { self.rawValue = rawValue }
}

/// Some of the sales that are not finished.
public struct StoreTransactionPage: Sendable, Hashable {
  /// The sales.
  public let transactions: [StoreTransaction]
  /// Where the next page begins; `nil` after the last one.
  public let next: StorePosition?

  /// Creates a page.
  public init(transactions: [StoreTransaction], next: StorePosition?) {
    self.transactions = transactions
    self.next = next
  }
}

/// A wish to have finished purchases again.
public struct RestoreRequest: Sendable, Hashable {
  /// Unique for each restoration that is asked for.
  public let id: String
  /// Only purchases that were made with this ``Payment/applicationUsername``; `nil` for all of the customer.
  public let applicationUsername: String?

  /// Creates a request.
  public init(id: String, applicationUsername: String? = nil) {
    self.id = id
    self.applicationUsername = applicationUsername
  }
}

/// A purchase that is given again.
public struct RestoredTransaction: Sendable, Hashable {
  /// The new transaction, with an identifier and receipt of its own.
  public let transaction: StoreTransaction
  /// The one that was finished.
  public let original: StoreTransaction

  /// Creates one from its parts.
  public init(transaction: StoreTransaction, original: StoreTransaction) {
    self.transaction = transaction
    self.original = original
  }
}

/// Some of the purchases that are given again.
public struct RestoredTransactionPage: Sendable, Hashable {
  /// The purchases.
  public let transactions: [RestoredTransaction]
  /// Where the next page begins; `nil` after the last one.
  public let next: StorePosition?

  /// Creates a page.
  public init(transactions: [RestoredTransaction], next: StorePosition?) {
    self.transactions = transactions
    self.next = next
  }
}
