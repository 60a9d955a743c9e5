// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Transactions, one by one and in histories.
extension AppStoreServerClient {
  /// A customer's transactions, page after page as they are needed.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - filter: Which transactions, and in which order; without one all, the oldest change first.
  /// - Returns: The transactions; iterating throws ``AppStoreServerError``.
  public func transactionHistory(
    of anyTransactionId: String, filter: TransactionHistoryFilter = TransactionHistoryFilter()
  ) -> AppStoreServerPages<VerifiedPayload<JWSTransaction>> {
    pages(.transactionHistory, of: anyTransactionId, filter: filter)
  }

  /// As ``transactionHistory(of:filter:)``, without finished consumables: the call that came before it.
  public func transactionHistoryV1(
    of anyTransactionId: String, filter: TransactionHistoryFilter = TransactionHistoryFilter()
  ) -> AppStoreServerPages<VerifiedPayload<JWSTransaction>> {
    pages(.transactionHistoryV1, of: anyTransactionId, filter: filter)
  }

  private func pages(
    _ endpoint: AppStoreServerEndpoint, of anyTransactionId: String, filter: TransactionHistoryFilter
  ) -> AppStoreServerPages<VerifiedPayload<JWSTransaction>> {
    AppStoreServerPages { revision throws(AppStoreServerError) in
      let answer = try await raw.send(
        .transactionHistory(endpoint, of: anyTransactionId, filter: filter, revision: revision),
        as: TransactionHistoryResponse.self)
      let page = answer.value
      let verification = verification(of: answer)
      try verification.demandBundle(page.bundleId, at: "$.bundleId")
      try verification.demandEnvironment(page.environment, at: "$.environment")
      return try AppStoreServerPage(
        elements: verification.transactions(page.signedTransactions), hasMore: page.hasMore,
        next: page.revision, nextName: "revision", of: answer)
    }
  }

  /// One transaction. The answer must be about this very transaction.
  public func transaction(
    _ transactionId: String
  ) async throws(AppStoreServerError) -> VerifiedPayload<JWSTransaction> {
    let answer = try await raw.send(
      AppStoreServerCall(.transaction, transactionId), as: TransactionInfoResponse.self)
    let verification = verification(of: answer)
    let place = "$.signedTransactionInfo"
    let transaction: VerifiedPayload<JWSTransaction> = try verification.verify(
      answer.value.signedTransactionInfo, at: place)
    try verification.demand(
      transaction.payload.transactionId, is: transactionId, "transaction identifier", at: place)
    return transaction
  }

  /// The purchase or download of the app itself.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The app transaction.
  /// - Throws: ``AppStoreServerError``.
  public func appTransaction(
    of anyTransactionId: String
  ) async throws(AppStoreServerError) -> VerifiedPayload<AppTransaction> {
    let answer = try await raw.send(
      AppStoreServerCall(.appTransaction, anyTransactionId), as: AppTransactionInfoResponse.self)
    return try verification(of: answer)
      .verify(answer.value.signedAppTransactionInfo, at: "$.signedAppTransactionInfo")
  }

  /// The transactions of an order, by the identifier in the customer's invoice; `nil` where the identifier is not
  /// valid, or is not one of this app. Production only.
  public func orderLookup(
    _ orderId: String
  ) async throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>]? {
    let answer = try await raw.send(AppStoreServerCall(.orderLookup, orderId), as: OrderLookupResponse.self)
    guard let status = answer.value.status else {
      throw AppStoreServerError(
        answer.endpoint, attempts: answer.attempts,
        .malformedResponse(
          MalformedReceipt(.missing, at: .jsonPath("$.status"), "The response has no status.")))
    }
    guard status == .valid else { return nil }
    return try verification(of: answer).transactions(answer.value.signedTransactions)
  }

  /// A customer's refunded transactions in the order in which they were refunded, page after page as they are
  /// needed.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The transactions; iterating throws ``AppStoreServerError``.
  public func refundHistory(
    of anyTransactionId: String
  ) -> AppStoreServerPages<VerifiedPayload<JWSTransaction>> {
    AppStoreServerPages { revision throws(AppStoreServerError) in
      let answer = try await raw.send(
        .refundHistory(of: anyTransactionId, revision: revision), as: RefundHistoryResponse.self)
      return try AppStoreServerPage(
        elements: verification(of: answer).transactions(answer.value.signedTransactions),
        hasMore: answer.value.hasMore, next: answer.value.revision, nextName: "revision", of: answer)
    }
  }

  /// The last 50 refunded transactions of a customer: the call that came before ``refundHistory(of:)``.
  public func refundHistoryV1(
    of originalTransactionId: String
  ) async throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>] {
    let answer = try await raw.send(
      AppStoreServerCall(.refundHistoryV1, originalTransactionId), as: RefundHistoryResponse.self)
    return try verification(of: answer).transactions(answer.value.signedTransactions)
  }
}

extension PartVerification {
  func transactions(
    _ parts: [String]?
  ) throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>] {
    try verify(parts ?? [], at: { "$.signedTransactions[\($0)]" })
  }
}
