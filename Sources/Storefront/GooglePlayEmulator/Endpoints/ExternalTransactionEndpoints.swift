// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import Storefront

/// The endpoints `externaltransactions`.
enum ExternalTransactionEndpoints {
  static let routes = [
    PlayRoute("POST", "externalTransactions", .externalTransactions, .manageOrders) { call in
      let id = call.request.value("externalTransactionId") ?? ""
      try call.require { $0.requireIdentifier(id, atMost: 63, at: "externalTransactionId") }
      let request = try call.body(CreateExternalTransactionRequest.self)
      guard try await call.ledger.externalTransaction(id) == nil else { throw PlayError.alreadyExists }
      if let first = request.recurringTransaction?.initialExternalTransactionId,
        try await call.ledger.externalTransaction(first)?.recurringTransaction == nil
      {
        throw PlayError.invalidArgument(
          "Invalid value at 'recurringTransaction.initialExternalTransactionId'")
      }
      let transaction = transaction(request, id, call)
      try await call.ledger.put(transaction)
      return PlayCall.json(transaction)
    },
    PlayRoute("GET", "externalTransactions/{}", .externalTransactions, .viewFinancialData) { call in
      PlayCall.json(try await known(call))
    },
    PlayRoute("POST", "externalTransactions/{}:refund", .externalTransactions, .manageOrders) { call in
      let request = try call.body(RefundExternalTransactionRequest.self)
      var transaction = try await known(call)
      let refund = request.partialRefund
      if let refund, try await call.ledger.hasRefund(refund.refundId, of: call.parameter(0)) {
        throw PlayError.alreadyExists
      }
      guard transaction.transactionState == .reported else { throw PlayError.alreadyRefunded }
      try deduct(refund?.refundPreTaxAmount, from: &transaction)
      try await call.ledger.put(transaction, refundId: refund?.refundId)
      return PlayCall.json(transaction)
    },
  ]

  private static func known(_ call: PlayCall) async throws -> ExternalTransaction {
    let id = call.parameter(0)
    try call.require { $0.requireIdentifier(id, atMost: 63, at: "externalTransactionId") }
    guard let transaction = try await call.ledger.externalTransaction(id) else {
      throw PlayError.externalTransactionNotFound
    }
    return transaction
  }

  private static func transaction(
    _ request: CreateExternalTransactionRequest, _ id: String, _ call: PlayCall
  ) -> ExternalTransaction {
    ExternalTransaction().with {
      $0.packageName = call.play.packageName
      $0.externalTransactionId = id
      $0.originalPreTaxAmount = request.originalPreTaxAmount
      $0.originalTaxAmount = request.originalTaxAmount
      $0.currentPreTaxAmount = request.originalPreTaxAmount
      $0.currentTaxAmount = request.originalTaxAmount
      $0.testPurchase = call.play.isTest ? EmptyObject() : nil
      $0.oneTimeTransaction = request.oneTimeTransaction
      $0.recurringTransaction = request.recurringTransaction
      // Both are of requests alone.
      $0.oneTimeTransaction?.externalTransactionToken = nil
      $0.recurringTransaction?.externalTransactionToken = nil
      $0.recurringTransaction?.migratedTransactionProgram = nil
      $0.transactionTime = request.transactionTime
      $0.createTime = call.now
      $0.transactionState = .reported
      $0.userTaxAddress = request.userTaxAddress
      $0.transactionProgramCode = request.transactionProgramCode
      $0.externalOfferDetails = request.externalOfferDetails
      $0.externalContentLinkDetails = request.externalContentLinkDetails
    }
  }

  /// Takes a partial refund off the present amounts, taxes in proportion; without one, all that is left.
  private static func deduct(
    _ refund: PlayPrice?, from transaction: inout ExternalTransaction
  ) throws(PlayError) {
    let original = transaction.originalPreTaxAmount?.priceMicros ?? 0
    var rest: Int64 = 0
    if let refund {
      let present = transaction.currentPreTaxAmount
      guard refund.currency == present?.currency, refund.priceMicros < present?.priceMicros ?? 0 else {
        throw .invalidArgument(
          "Invalid value at 'partialRefund.refundPreTaxAmount': it must be less than what was not refunded.")
      }
      rest = (present?.priceMicros ?? 0) - refund.priceMicros
    } else {
      transaction.transactionState = .canceled
    }
    transaction.currentPreTaxAmount?.priceMicros = rest
    let tax = transaction.originalTaxAmount?.priceMicros ?? 0
    transaction.currentTaxAmount?.priceMicros = original == 0 ? 0 : tax.scaled(by: rest, over: original)
  }
}
