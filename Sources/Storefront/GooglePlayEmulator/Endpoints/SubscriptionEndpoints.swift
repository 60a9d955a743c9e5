// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import GooglePlay
internal import ReceiptCodec
internal import Storefront

/// The endpoints `purchases.subscriptions` and `purchases.subscriptionsv2`.
///
/// `purchases.subscriptions.get` is missing, because Google no longer documents it.
enum SubscriptionEndpoints {
  private static let v1 = "purchases/subscriptions/{}/tokens/{}"
  private static let v2 = "purchases/subscriptionsv2/tokens/{}"

  static let routes = [
    PlayRoute("GET", v2, .subscriptions, .viewFinancialData) { call in
      let view = try await call.view(call.parameter(0), isSubscription: true)
      return PlayCall.json(view.subscription(of: call.ledger.store.catalog))
    },
    PlayRoute("POST", v2 + ":revoke", .subscriptionUpdates, .manageOrders) { call in
      let request = try call.body(RevokeSubscriptionRequest.self)
      let context = request.revocationContext
      let view = try await call.view(call.parameter(0), isSubscription: true)
      if let item = context.itemBasedRefund, item.productId != view.transaction?.productId {
        throw PlayError.invalidArgument("The subscription has no such item.")
      }
      try await revoke(view, call, isProrated: context.proratedRefund != nil)
      return PlayCall.json(RevokeSubscriptionResponse())
    },
    PlayRoute("POST", v2 + ":cancel", .subscriptionUpdates, .manageOrders) { call in
      let type = try call.body(CancelSubscriptionRequest.self).cancellationContext.cancellationType
      let view = try await call.view(call.parameter(0), isSubscription: true)
      switch type {
      case .userStopsRenewals: try await cancel(view, call, by: .user)
      case .developerStopsPayments: try await cancel(view, call, by: .developer)
      case .unspecified, .unknown:
        throw PlayError.invalidArgument("Invalid value at 'cancellationContext.cancellationType'")
      }
      return PlayCall.json(CancelSubscriptionResponse())
    },
    PlayRoute("POST", v2 + ":defer", .subscriptionUpdates, .manageOrders) { call in
      let context = try call.body(DeferSubscriptionRequest.self).deferralContext
      let view = try await call.view(call.parameter(0), isSubscription: true)
      guard context.etag == view.subscription(of: call.ledger.store.catalog).etag else {
        throw PlayError.staleTag
      }
      guard let expiry = view.expiryDate else { throw PlayError.subscriptionNotOwned }
      let end = expiry.addingSeconds(Double(context.deferSeconds))
      if context.validateOnly != true { try await postpone(view, call, to: end) }
      let item = PlayItemExpiry().with {
        $0.productId = view.transaction?.productId
        $0.expiryTime = end
      }
      return PlayCall.json(DeferSubscriptionResponse().with { $0.itemExpiryTimeDetails = [item] })
    },
    PlayRoute("POST", v1 + ":acknowledge", .subscriptionUpdates) { call in
      let request = try call.body(SubscriptionAcknowledgeRequest.self)
      let view = try await owned(call)
      guard view.isOwned else { throw PlayError.subscriptionNotOwned }
      try await call.change(view.purchase) { purchase in
        purchase.acknowledge()
        if let payload = request.developerPayload { purchase.developerPayload = payload }
        if let ids = request.externalAccountIds {
          purchase.obfuscatedAccountId = purchase.obfuscatedAccountId ?? ids.obfuscatedAccountId
          purchase.obfuscatedProfileId = purchase.obfuscatedProfileId ?? ids.obfuscatedProfileId
        }
      }
      return PlayCall.noContent
    },
    PlayRoute("POST", v1 + ":cancel", .subscriptionUpdates, .manageOrders) { call in
      try await cancel(try await owned(call), call, by: .developer)
      return PlayCall.noContent
    },
    PlayRoute("POST", v1 + ":defer", .subscriptionUpdates, .manageOrders) { call in
      let info = try call.body(DeferSubscriptionV1Request.self).deferralInfo
      let view = try await owned(call)
      guard let expiry = view.expiryDate,
        info.expectedExpiryTime.wholeMilliseconds == expiry.wholeMilliseconds
      else { throw PlayError.concurrentUpdate }
      guard info.desiredExpiryTime <= expiry.addingSeconds(longestDeferral) else {
        throw PlayError.invalidArgument("Invalid value at 'deferralInfo.desiredExpiryTimeMillis'")
      }
      try await postpone(view, call, to: info.desiredExpiryTime)
      return PlayCall.json(DeferSubscriptionV1Response().with { $0.newExpiryTime = info.desiredExpiryTime })
    },
    PlayRoute("POST", v1 + ":refund", .orders, .manageOrders) { call in
      let view = try await owned(call)
      guard let order = view.purchase.paidOrders.last?.orderId else { throw PlayError.subscriptionNotOwned }
      try await OrderEndpoints.refund(order, revokes: false, call)
      return PlayCall.noContent
    },
    PlayRoute("POST", v1 + ":revoke", .orders, .manageOrders) { call in
      try await revoke(try await owned(call), call, isProrated: false)
      return PlayCall.noContent
    },
  ]

  private static let longestDeferral: Double = 366 * 86_400

  private static func owned(_ call: PlayCall) async throws -> PlayView {
    let view = try await call.view(call.parameter(1), isSubscription: true)
    let products = [view.purchase.productId, view.transaction?.productId]
    guard products.contains(call.parameter(0)) else { throw PlayError.otherSubscription }
    return view
  }

  private static func original(_ view: PlayView) throws(PlayError) -> String {
    guard view.isOwned, view.subscriptionState != "EXPIRED",
      let original = view.purchase.originalTransactionId
    else { throw .subscriptionNotOwned }
    return original
  }

  private static func cancel(
    _ view: PlayView, _ call: PlayCall, by canceller: PlayPurchase.Canceller
  ) async throws {
    let original = try original(view)
    guard view.autoRenews else { return }
    try await call.change(view.purchase) { $0.cancel(by: canceller, at: nil) }
    try await call.ledger.store.perform(.setAutoRenew(false, of: original))
  }

  private static func postpone(_ view: PlayView, _ call: PlayCall, to end: Timestamp) async throws {
    let original = try original(view)
    guard view.subscriptionState == "ACTIVE", view.purchase.pauseDate == nil else {
      throw PlayError.subscriptionNotOwned
    }
    try await call.ledger.store.perform(.postpone(original, to: end))
  }

  private static func revoke(_ view: PlayView, _ call: PlayCall, isProrated: Bool) async throws {
    _ = try original(view)
    guard let transaction = view.transaction, let identifier = transaction.transactionId,
      let purchase = try await call.ledger.purchase(.transaction(identifier))
    else { throw PlayError.subscriptionNotOwned }
    var amount = RefundAmount.full
    if isProrated, let start = transaction.purchaseDate, let end = transaction.expiresDate {
      let length = end.millisecondsSince1970 - start.millisecondsSince1970
      let rest = end.millisecondsSince1970 - call.now.millisecondsSince1970
      amount = .prorated(Int64(min(99_999, max(1, (rest / max(1, length) * 100_000).rounded(.down)))))
    }
    try await call.play.refund(
      identifier, of: purchase, source: 1, reason: 0, amount: amount)
  }
}
