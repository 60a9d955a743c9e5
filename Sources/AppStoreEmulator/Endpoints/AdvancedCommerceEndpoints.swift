// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Storefront

/// The server calls of the Advanced Commerce API. Requests are validated and recorded, change the subscription, and are
/// notified about.
enum AdvancedCommerceEndpoints {
  static let routes =
    subscriptionCalls.map { name, required in
      Route("POST", "/advancedCommerce/v1/subscription/\(name)/{}") { (call) async throws(EmulatorError) in
        try await answer(call, name, required)
      }
    } + [
      Route("POST", "/advancedCommerce/v1/transaction/requestRefund/{}") {
        (call) async throws(EmulatorError) in
        try await answer(call, "requestRefund", ["items", "refundRiskingPreference"])
      }
    ]

  private static let subscriptionCalls: [(name: String, required: [String])] = [
    ("cancel", []), ("revoke", ["refundReason", "refundType", "refundRiskingPreference"]),
    ("migrate", ["targetProductId", "descriptors", "items"]), ("changeMetadata", []),
    ("changePrice", ["items"]),
  ]

  private static func answer(
    _ call: EndpointCall, _ name: String, _ required: [String]
  ) async throws(EmulatorError) -> EmulatorResponse {
    let sale = try await call.sale()
    let body = try call.body()
    guard let reference = body["requestInfo"]?["requestReferenceId"]?.string,
      UUIDString(rawValue: reference).uuid != nil,
      required.allSatisfy({ body[$0].map { !$0.isNull } ?? false })
    else { throw .generalBadRequest }
    call.store.state.withState {
      $0.advancedCommerceRequests.append(
        .members(("call", .string(name)), ("transactionId", .string(call.parameter())), ("body", body)))
    }
    let original = sale.originalIdentifier
    let before = try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.subscriptionState(original)
    }
    let latest = before?.subscription.transaction ?? sale.transaction
    let identifier = latest.transactionId ?? ""
    switch name {
    case "cancel" where before?.subscription.autoRenews == true:
      try await call.purchases { (store) async throws(LocalStoreError) in
        _ = try await store.perform(.setAutoRenew(false, of: original))
      }
    case "revoke":
      guard let status = before?.status, [.active, .gracePeriod, .billingRetry].contains(status) else {
        throw .revokeOnInactiveSubscription
      }
      try await call.purchases { (store) async throws(LocalStoreError) in
        _ = try await store.refund(identifier)
      }
    case "requestRefund":
      guard latest.revocationDate == nil else { throw .alreadyRefunded }
      try await call.purchases { (store) async throws(LocalStoreError) in
        _ = try await store.refund(identifier)
      }
    case "migrate":
      try await report(.migration, of: original, renewingTo: body["targetProductId"]?.string, call)
    case "changeMetadata": try await report(.metadataUpdate, of: original, call)
    case "changePrice":
      try await report(.priceChange, of: original, price: body["items"]?.array?.first?["price"]?.int64, call)
    default: break
    }
    let (current, after) = try await call.purchases { (store) async throws(LocalStoreError) in
      (try await store.currentSale(identifier), try await store.subscriptionState(original))
    }
    let transaction = after?.subscription.transaction ?? current?.transaction ?? sale.transaction
    return .json(
      .members(
        ("signedTransactionInfo", call.sign(transaction)),
        ("signedRenewalInfo", after.map { call.sign($0.renewalInfo) })))
  }

  private static func report(
    _ type: NotificationType, of original: String, renewingTo product: String? = nil, price: Int64? = nil,
    _ call: EndpointCall
  ) async throws(EmulatorError) {
    _ = try await call.purchases { (store) async throws(LocalStoreError) in
      try await store.report(type, of: original, renewingTo: product, price: price)
    }
  }
}
