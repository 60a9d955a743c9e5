// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension GooglePlayClient {
  /// The purchases that were refunded, charged back or revoked, page after page as they are needed.
  ///
  /// ```swift
  /// for try await voided in client.voidedPurchases(VoidedPurchasesQuery()) {
  ///   revoke(voided.purchaseToken)
  /// }
  /// ```
  ///
  /// - Parameter query: What is listed; its ``VoidedPurchasesQuery/token`` is that of the page to begin with.
  /// - Returns: The purchases; iterating throws ``GooglePlayError``.
  public func voidedPurchases(_ query: VoidedPurchasesQuery = VoidedPurchasesQuery()) -> VoidedPurchases {
    VoidedPurchases(client: self, query: query)
  }
}

/// The voided purchases of an app, as one sequence: a page is requested when its first element is needed.
///
/// Each iteration begins at the first page. It fails with ``GooglePlayError``, also where Google names a page that was
/// there before, which would never end.
public struct VoidedPurchases: AsyncSequence, Sendable {
  /// What iterating throws.
  public typealias Failure = GooglePlayError

  let client: GooglePlayClient
  let query: VoidedPurchasesQuery

  /// Begins at the first page.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, query: query) }

  /// Returns the purchases of one page after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let client: GooglePlayClient
    /// The query of the next page; `nil` after the last.
    private var query: VoidedPurchasesQuery?
    private var elements: ArraySlice<VoidedPurchase> = []
    /// Eight bytes for each page that came.
    private var knownTokens: Set<Int> = []

    init(client: GooglePlayClient, query: VoidedPurchasesQuery) {
      self.client = client
      self.query = query
    }

    /// The next purchase, from the next page where this one is at its end; `nil` after the last.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(GooglePlayError) -> VoidedPurchase? {
      while elements.isEmpty {
        guard var query else { return nil }
        // After an error the sequence has ended.
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
