// SPDX-License-Identifier: Apache-2.0

internal import AppStoreServer
internal import ReceiptCodec
internal import Storefront

/// The server calls of the Advanced Commerce API. A call is validated and recorded, changes the subscription, and
/// causes notifications.
enum AdvancedCommerceEndpoints {
  static let routes = calls.map { name, path, required in
    Route("POST", "/advancedCommerce/v1/\(path)/\(name)/{}") { try await answer($0, name, required) }
  }

  private static let calls: [(name: String, path: String, required: [String])] = [
    ("cancel", "subscription", []),
    ("revoke", "subscription", ["refundReason", "refundType", "refundRiskingPreference"]),
    ("migrate", "subscription", ["targetProductId", "descriptors", "items"]),
    ("changeMetadata", "subscription", []), ("changePrice", "subscription", ["items"]),
    ("requestRefund", "transaction", ["items", "refundRiskingPreference"]),
  ]

  private static func answer(
    _ call: EndpointCall, _ name: String, _ required: [String]
  ) async throws -> RemoteResponse {
    let sale = try await call.sale()
    let body = try call.body()
    guard body["requestInfo"]?["requestReferenceId"]?.uuid != nil, required.allSatisfy({ body[$0] != nil })
    else { throw Refusal.generalBadRequest }
    call.store.state.withState {
      $0.advancedCommerceRequests.append(
        ["call": name, "transactionId": call.parameter(), "body": body])
    }
    let original = sale.originalIdentifier
    let before = try await call.purchases.subscriptionState(original)
    let latest = before?.subscription.transaction ?? sale.transaction
    let identifier = latest.transactionId ?? ""
    switch name {
    case "cancel" where before?.subscription.autoRenews == true:
      try await call.purchases.perform(.setAutoRenew(false, of: original))
    case "revoke":
      guard let status = before?.status, [.active, .gracePeriod, .billingRetry].contains(status) else {
        throw Refusal.revokeOnInactiveSubscription
      }
      try await call.purchases.refund(identifier)
    case "requestRefund":
      guard latest.revocationDate == nil else { throw Refusal.alreadyRefunded }
      try await call.purchases.refund(identifier)
    case "migrate":
      let product = body["targetProductId"]?.string
      _ = try await call.purchases.report(.migration, of: original, renewingTo: product)
    case "changeMetadata": _ = try await call.purchases.report(.metadataUpdate, of: original)
    case "changePrice":
      let price = body["items"]?.array?.first?["price"]?.int64
      _ = try await call.purchases.report(.priceChange, of: original, price: price)
    default: break
    }
    let current = try await call.purchases.currentSale(identifier)
    let after = try await call.purchases.subscriptionState(original)
    let transaction = after?.subscription.transaction ?? current?.transaction ?? sale.transaction
    return .json([
      "signedTransactionInfo": call.sign(transaction),
      "signedRenewalInfo": after.map { call.sign($0.renewalInfo) },
    ])
  }
}
