// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension GooglePlayClient {
  /// Returns the purchases that were refunded, charged back or revoked, page after page as they are needed.
  ///
  /// ```swift
  /// for try await voided in client.voidedPurchases(VoidedPurchasesQuery()) {
  ///   revoke(voided.purchaseToken)
  /// }
  /// ```
  ///
  /// - Parameter query: The query; its ``VoidedPurchasesQuery/token`` is that of the page to begin with.
  /// - Returns: The purchases; iterating throws ``GooglePlayError``.
  public func voidedPurchases(_ query: VoidedPurchasesQuery = VoidedPurchasesQuery()) -> VoidedPurchases {
    VoidedPurchases(client: self, query: query)
  }
}

/// The voided purchases of an app, as one sequence.
///
/// A page is requested when its first element is needed.
///
/// Each iteration begins at the query's page. It fails with ``GooglePlayError``. It also fails if Google names a page
/// that it already returned, because such an iteration would never end.
public struct VoidedPurchases: AsyncSequence, Sendable {
  /// The error that iterating throws.
  public typealias Failure = GooglePlayError

  let client: GooglePlayClient
  let query: VoidedPurchasesQuery

  /// Returns an iterator that begins at the query's page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, query: query) }

  /// An iterator over the purchases of one page after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let client: GooglePlayClient
    /// The query of the next page; `nil` after the last.
    private var query: VoidedPurchasesQuery?
    private var elements: ArraySlice<VoidedPurchase> = []
    /// The hashes of the page tokens seen so far, eight bytes for each.
    private var knownTokens: Set<Int> = []

    init(client: GooglePlayClient, query: VoidedPurchasesQuery) {
      self.client = client
      self.query = query
    }

    /// Returns the next purchase, from the next page if this one is exhausted; `nil` after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(GooglePlayError) -> VoidedPurchase? {
      while elements.isEmpty {
        guard var query else { return nil }
        // After an error the sequence ends.
        self.query = nil
        let page = try await client.send(.voidedPurchases(query: query))
        if let token = page.tokenPagination?.nextPageToken, !token.isEmpty {
          guard knownTokens.insert(token.hashValue).inserted else {
            throw GooglePlayError(
              .voidedPurchases, attempts: 1,
              .malformedResponse(
                MalformedReceipt(
                  .duplicate, at: .jsonPath("$.tokenPagination.nextPageToken"),
                  "The server names a page that it answered already.")))
          }
          query.token = token
          self.query = query
        }
        elements = (page.voidedPurchases ?? [])[...]
      }
      return elements.popFirst()
    }
  }
}
