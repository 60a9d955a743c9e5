// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The server calls of the Advanced Commerce API. Requests are validated and recorded; only cancelling, revoking and
/// refunding change the state.
enum AdvancedCommerceEndpoints {
  static let routes =
    subscriptionCalls.map { name, required in
      Route("POST", "/advancedCommerce/v1/subscription/\(name)/{}") { (call) throws(EmulatorError) in
        try answer(call, name, required)
      }
    } + [
      Route("POST", "/advancedCommerce/v1/transaction/requestRefund/{}") { (call) throws(EmulatorError) in
        try answer(call, "requestRefund", ["items", "refundRiskingPreference"])
      }
    ]

  private static let subscriptionCalls: [(name: String, required: [String])] = [
    ("cancel", []), ("revoke", ["refundReason", "refundType", "refundRiskingPreference"]),
    ("migrate", ["targetProductId", "descriptors", "items"]), ("changeMetadata", []),
    ("changePrice", ["items"]),
  ]

  private static func answer(
    _ call: EndpointCall, _ name: String, _ required: [String]
  ) throws(EmulatorError) -> EmulatorResponse {
    let record = try TransactionEndpoints.record(call)
    let body = try call.body()
    guard let reference = body["requestInfo"]?["requestReferenceId"]?.string,
      UUIDString(rawValue: reference).uuid != nil,
      required.allSatisfy({ body[$0].map { !$0.isNull } ?? false })
    else { throw .generalBadRequest }
    let original = record.transaction.originalTransactionId ?? call.parameter()
    let (transaction, renewalInfo) = call.store.state.withState {
      state -> (JWSTransaction, JWSRenewalInfo?) in
      state.advancedCommerceCalls.append(
        .members(("call", .string(name)), ("transactionId", .string(call.parameter())), ("body", body)))
      let latest = state.subscriptions[original]?.latestTransactionId ?? call.parameter()
      switch name {
      case "cancel": state.subscriptions[original]?.renewalInfo.autoRenewStatus = .off
      case "revoke", "requestRefund": state.refund(latest, at: call.now)
      default: break
      }
      return (
        state.transactions[latest]?.transaction ?? record.transaction,
        state.subscriptions[original]?.renewalInfo
      )
    }
    return .json(
      .members(
        ("signedTransactionInfo", call.sign(transaction)), ("signedRenewalInfo", renewalInfo.map(call.sign))))
  }
}
