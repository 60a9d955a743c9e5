// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Storefront

/// One transaction, an app transaction, an order, finishing, and the app account token.
enum TransactionEndpoints {
  static let routes = [
    Route("GET", "/inApps/v2/history/{}") { (call) async throws(EmulatorError) in
      try await history(call, isVersion1: false)
    },
    Route("GET", "/inApps/v1/history/{}") { (call) async throws(EmulatorError) in
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

  @Sendable static func transaction(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    .json(.members(("signedTransactionInfo", call.sign(try await call.sale().transaction))))
  }

  @Sendable static func appTransaction(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    let account = try await call.account()
    let found = try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.appTransaction(of: account)
    }
    guard var appTransaction = found else { throw .appTransactionNotFound }
    appTransaction.receiptCreationDate = call.now
    return .json(
      .members(
        ("signedAppTransactionInfo", .string(call.store.signing.sign(.appTransaction(appTransaction))))))
  }

  /// Order lookup exists only in production.
  @Sendable static func order(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    guard call.configuration.environment == .production else {
      return .text("Orders are looked up in production.\n", status: 404)
    }
    let order = call.parameter()
    guard 1...64 ~= order.utf8.count else { throw .generalBadRequest }
    let transactions = try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.transactions(ofOrder: order)
    }
    guard !transactions.isEmpty else { return .json(.members(("status", .integer(1)))) }
    return .json(
      .members(("status", .integer(0)), ("signedTransactions", .array(transactions.map(call.sign)))))
  }

  @Sendable static func finish(_ call: EndpointCall) async throws(EmulatorError) -> EmulatorResponse {
    let sale = try await call.sale()
    try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.finish(sale.identifier)
    }
    return .empty()
  }

  @Sendable static func setAppAccountToken(_ call: EndpointCall) async throws(EmulatorError)
    -> EmulatorResponse
  {
    let identifier = try call.transactionIdentifier()
    guard let token = try call.body()["appAccountToken"]?.string,
      let uuid = UUIDString(rawValue: token).uuid
    else { throw .appAccountTokenNotUUID }
    let sale: StoreSaleRecord
    do throws(EmulatorError) {
      sale = try await call.sale()
    } catch {
      throw error == .transactionNotFound ? .originalTransactionNotFound : error
    }
    guard sale.originalIdentifier == identifier else { throw .transactionIdNotOriginal }
    guard sale.transaction.inAppOwnershipType != .familyShared else { throw .familyTransactionNotSupported }
    try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.setAppAccountToken(UUIDString(uuid), of: identifier)
    }
    return .empty()
  }
}
