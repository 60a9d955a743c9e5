// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// One transaction, an app transaction, an order, finishing, and the app account token.
enum TransactionEndpoints {
  static let routes = [
    Route("GET", "/inApps/v2/history/{}") { (call) throws(EmulatorError) in
      try history(call, isVersion1: false)
    },
    Route("GET", "/inApps/v1/history/{}") { (call) throws(EmulatorError) in
      try history(call, isVersion1: true)
    },
    Route("GET", "/inApps/v1/transactions/{}", transaction),
    Route("GET", "/inApps/v1/transactions/appTransactions/{}", appTransaction),
    Route("GET", "/inApps/v1/lookup/{}", order),
    Route("GET", "/inApps/v2/refund/lookup/{}", refunds),
    Route("GET", "/inApps/v1/refund/lookup/{}", refundsVersion1),
    Route("POST", "/inApps/v1/transactions/{}/finish", finish),
    Route("PUT", "/inApps/v1/transactions/{}/appAccountToken", setAppAccountToken),
  ]

  @Sendable static func transaction(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let record = try record(call)
    return .json(.members(("signedTransactionInfo", call.sign(record.transaction))))
  }

  @Sendable static func appTransaction(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let identifier = try call.transactionIdentifier()
    let found = try call.store.state.change { (state) throws(EmulatorError) -> AppTransaction? in
      guard let customer = state.customer(of: identifier) else { throw .transactionNotFound }
      return state.customers[customer].appTransaction
    }
    guard var appTransaction = found else { throw .appTransactionNotFound }
    appTransaction.receiptCreationDate = call.now
    return .json(
      .members(
        ("signedAppTransactionInfo", .string(call.store.signing.sign(.appTransaction(appTransaction))))))
  }

  /// Order lookup exists only in production.
  @Sendable static func order(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    guard call.configuration.environment == .production else {
      return .text("Orders are looked up in production.\n", status: 404)
    }
    guard 1...64 ~= call.parameter().utf8.count else { throw .generalBadRequest }
    let transactions = call.store.state.withState { state in
      (state.orders[call.parameter()] ?? []).compactMap { state.transactions[$0]?.transaction }
    }
    guard !transactions.isEmpty else { return .json(.members(("status", .integer(1)))) }
    return .json(
      .members(("status", .integer(0)), ("signedTransactions", .array(transactions.map(call.sign)))))
  }

  @Sendable static func finish(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let record = try record(call)
    guard let identifier = record.transaction.transactionId else { throw .transactionNotFound }
    call.store.state.withState { $0.transactions[identifier]?.isFinished = true }
    return .empty()
  }

  @Sendable static func setAppAccountToken(_ call: EndpointCall) throws(EmulatorError) -> EmulatorResponse {
    let identifier = try call.transactionIdentifier()
    guard let token = try call.body()["appAccountToken"]?.string,
      let uuid = UUIDString(rawValue: token).uuid
    else { throw .appAccountTokenNotUUID }
    try call.store.state.change { (state) throws(EmulatorError) in
      guard let record = state.transactions[identifier] else {
        guard state.customer(of: identifier) == nil else { throw .appTransactionIdNotSupported }
        throw .originalTransactionNotFound
      }
      guard record.transaction.originalTransactionId == identifier else { throw .transactionIdNotOriginal }
      guard record.transaction.inAppOwnershipType != .familyShared else {
        throw .familyTransactionNotSupported
      }
      for other in state.history(of: record.customer)
      where state.transactions[other]?.transaction.originalTransactionId == identifier {
        state.update(transaction: other) { $0.appAccountToken = UUIDString(uuid) }
      }
      state.subscriptions[identifier]?.renewalInfo.appAccountToken = UUIDString(uuid)
    }
    return .empty()
  }

  /// The purchase whose transaction identifier is in the path.
  static func record(_ call: EndpointCall) throws(EmulatorError) -> EmulatorState.TransactionRecord {
    let identifier = try call.transactionIdentifier()
    return try call.store.state.change { (state) throws(EmulatorError) in
      if let record = state.transactions[identifier] { return record }
      if let customer = state.customerIndices[identifier],
        state.customers[customer].appTransaction?.appTransactionId == identifier
      {
        throw .appTransactionIdNotSupported
      }
      throw .transactionNotFound
    }
  }
}
