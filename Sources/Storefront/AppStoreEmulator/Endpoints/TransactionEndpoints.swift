// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The endpoints for one transaction, an app transaction, an order, finishing, and the app account token.
enum TransactionEndpoints {
  static let routes = [
    Route("GET", "/inApps/v2/history/{}") { call in
      try await history(call, isVersion1: false)
    },
    Route("GET", "/inApps/v1/history/{}") { call in
      try await history(call, isVersion1: true)
    },
    Route("GET", "/inApps/v1/transactions/{}", transaction),
    Route("GET", "/inApps/v1/transactions/appTransactions/{}", appTransaction),
    Route("GET", "/inApps/v1/lookup/{}", order),
    Route("GET", "/inApps/v2/refund/lookup/{}", refunds),
    Route("GET", "/inApps/v1/refund/lookup/{}", refundsVersion1),
    Route("POST", "/inApps/v1/transactions/{}/finish", finish),
    Route("PUT", "/inApps/v1/transactions/{}/appAccountToken", setAppAccountToken),
  ]

  @Sendable static func transaction(_ call: EndpointCall) async throws -> RemoteResponse {
    .json(("signedTransactionInfo", call.sign(try await call.sale().transaction)))
  }

  @Sendable static func appTransaction(_ call: EndpointCall) async throws -> RemoteResponse {
    guard var appTransaction = try await call.purchases.appTransaction(of: call.account()) else {
      throw Refusal.appTransactionNotFound
    }
    appTransaction.receiptCreationDate = call.now
    return .json(
      ("signedAppTransactionInfo", .string(call.store.signing.sign(.appTransaction(appTransaction)))))
  }

  /// Looks up an order, in production only.
  @Sendable static func order(_ call: EndpointCall) async throws -> RemoteResponse {
    guard call.configuration.environment == .production else {
      return .text("Orders are looked up in production.\n", status: 404)
    }
    let order = call.parameter()
    guard 1...64 ~= order.utf8.count else { throw Refusal.generalBadRequest }
    let transactions = try await call.purchases.transactions(ofOrder: order)
    guard !transactions.isEmpty else { return .json(("status", .integer(1))) }
    return .json(("status", .integer(0)), ("signedTransactions", .array(transactions.map(call.sign))))
  }

  @Sendable static func finish(_ call: EndpointCall) async throws -> RemoteResponse {
    try await call.purchases.finish(call.sale().identifier)
    return .empty()
  }

  @Sendable static func setAppAccountToken(_ call: EndpointCall) async throws -> RemoteResponse {
    let identifier = try call.transactionIdentifier()
    guard let token = try call.body()["appAccountToken"]?.string,
      let uuid = UUIDString(rawValue: token).uuid
    else { throw Refusal.appAccountTokenNotUUID }
    let sale: StoreSaleRecord
    do { sale = try await call.sale() } catch Refusal.transactionIdNotFound {
      throw Refusal.originalTransactionIdNotFound
    }
    guard sale.originalIdentifier == identifier else { throw Refusal.transactionIdNotOriginal }
    guard sale.transaction.inAppOwnershipType != .familyShared else {
      throw Refusal.familyTransactionNotSupported
    }
    try await call.purchases.setAppAccountToken(UUIDString(uuid), of: identifier)
    return .empty()
  }
}
