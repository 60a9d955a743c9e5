// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension AppStoreServerPagedCall
where Response == TransactionHistoryResponse, Element == VerifiedPayload<JWSTransaction> {
  /// A customer's transactions.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - filter: Which transactions, and in which order; without one all, the oldest change first.
  /// - Returns: The call.
  public static func transactionHistory(
    of anyTransactionId: String, filter: TransactionHistoryFilter = TransactionHistoryFilter()
  ) -> Self { history(.transactionHistory, anyTransactionId, filter) }

  /// As ``transactionHistory(of:filter:)``, without finished consumables: the version that came before it.
  public static func transactionHistoryV1(
    of anyTransactionId: String, filter: TransactionHistoryFilter = TransactionHistoryFilter()
  ) -> Self { history(.transactionHistoryV1, anyTransactionId, filter) }

  private static func history(
    _ endpoint: AppStoreServerEndpoint, _ anyTransactionId: String, _ filter: TransactionHistoryFilter
  ) -> Self {
    Self { revision in
      let request = AppStoreServerRequest(
        anyTransactionId, query: (revision.map { [("revision", $0)] } ?? []) + filter.queryItems)
      return AppStoreServerCall(endpoint, request) { (response, parts) throws(AppStoreServerError) in
        try parts.requireBundle(response.bundleId, at: "$.bundleId")
        try parts.requireEnvironment(response.environment, at: "$.environment")
        return try parts.page(
          parts.transactions(response.signedTransactions), hasMore: response.hasMore,
          next: response.revision, named: "revision")
      }
    }
  }
}

extension AppStoreServerPagedCall
where Response == RefundHistoryResponse, Element == VerifiedPayload<JWSTransaction> {
  /// A customer's refunded transactions in the order in which they were refunded.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The call.
  public static func refundHistory(of anyTransactionId: String) -> Self {
    Self { revision in
      let request = AppStoreServerRequest(
        anyTransactionId, query: revision.map { [("revision", $0)] } ?? [])
      return AppStoreServerCall(.refundHistory, request) { (response, parts) throws(AppStoreServerError) in
        try parts.page(
          parts.transactions(response.signedTransactions), hasMore: response.hasMore,
          next: response.revision, named: "revision")
      }
    }
  }
}

extension AppStoreServerCall
where Response == RefundHistoryResponse, Value == [VerifiedPayload<JWSTransaction>] {
  /// The last 50 refunded transactions of a customer: the version that came before
  /// ``AppStoreServerPagedCall/refundHistory(of:)``.
  public static func refundHistoryV1(of originalTransactionId: String) -> Self {
    Self(.refundHistoryV1, AppStoreServerRequest(originalTransactionId)) {
      (response, parts) throws(AppStoreServerError) in try parts.transactions(response.signedTransactions)
    }
  }
}

extension AppStoreServerCall
where Response == TransactionInfoResponse, Value == VerifiedPayload<JWSTransaction> {
  /// One transaction. The answer must be about this very transaction.
  public static func transaction(_ transactionId: String) -> Self {
    Self(.transaction, AppStoreServerRequest(transactionId)) {
      (response, parts) throws(AppStoreServerError) in
      let place = "$.signedTransactionInfo"
      let transaction = try parts.verify(
        response.signedTransactionInfo, at: place, as: JWSTransaction.self)
      try parts.require(
        transaction.payload.transactionId, is: transactionId, "transaction identifier", at: place)
      return transaction
    }
  }
}

extension AppStoreServerCall
where Response == AppTransactionInfoResponse, Value == VerifiedPayload<AppTransaction> {
  /// The purchase or download of the app itself.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The call.
  public static func appTransaction(of anyTransactionId: String) -> Self {
    Self(.appTransaction, AppStoreServerRequest(anyTransactionId)) {
      (response, parts) throws(AppStoreServerError) in
      try parts.verify(response.signedAppTransactionInfo, at: "$.signedAppTransactionInfo")
    }
  }
}

extension AppStoreServerCall
where Response == OrderLookupResponse, Value == [VerifiedPayload<JWSTransaction>]? {
  /// The transactions of an order, by the identifier in the customer's invoice; `nil` where the identifier is not
  /// valid, or is not one of this app. Production only.
  public static func orderLookup(_ orderId: String) -> Self {
    Self(.orderLookup, AppStoreServerRequest(orderId)) { (response, parts) throws(AppStoreServerError) in
      guard try parts.require(response.status, at: "$.status") == .valid else { return nil }
      return try parts.transactions(response.signedTransactions)
    }
  }
}

extension SignedParts {
  fileprivate func transactions(
    _ parts: [String]?
  ) throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>] {
    try verify(parts ?? [], at: { "$.signedTransactions[\($0)]" })
  }
}

extension Timestamp {
  /// Whole milliseconds, as queries write dates.
  var queryValue: String { String(Int64(wholeMilliseconds)) }
}
