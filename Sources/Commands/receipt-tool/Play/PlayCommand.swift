// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GooglePlay
import ReceiptCodec
import ReceiptVerification

extension PlayGetCommand {
  func validate() throws {
    try refuse(["--v1": productV1 != nil], unless: type == .product, "needs --type product")
  }

  func run() async throws {
    switch (type, productV1) {
    case (.subscription, _): try await options.show(.subscription(token))
    case (.product, nil): try await options.show(.product(token))
    case (.product, let product?): try await options.show(.productV1(of: product, token: token))
    }
  }
}

extension PlayAcknowledgeCommand {
  func validate() throws {
    try refuse(
      ["--account": account != nil, "--profile": profile != nil], unless: type == .subscription,
      "needs --type subscription")
  }

  func run() async throws {
    let call: GooglePlayCall<NoContent>
    switch type {
    case .product:
      let request = ProductAcknowledgeRequest().with { $0.developerPayload = payload }
      call = .acknowledgeProduct(of: product, token: token, with: request)
    case .subscription:
      var request = SubscriptionAcknowledgeRequest().with { $0.developerPayload = payload }
      if account != nil || profile != nil {
        request.externalAccountIds = PlayExternalAccountIds().with {
          $0.obfuscatedAccountId = account
          $0.obfuscatedProfileId = profile
        }
      }
      call = .acknowledgeSubscription(of: product, token: token, with: request)
    }
    try await options.perform(call, "purchaseToken", token, "acknowledged")
  }
}

extension PlayConsumeCommand {
  func run() async throws {
    try await options.perform(.consumeProduct(of: product, token: token), "purchaseToken", token, "consumed")
  }
}

extension PlayRevokeCommand {
  func validate() throws {
    try refuse(["--item": item != nil], unless: !prorated, "cannot go with --prorated")
  }

  func run() async throws {
    var context = PlayRevocationContext()
    if prorated {
      context.proratedRefund = EmptyObject()
    } else if let item {
      context.itemBasedRefund = PlayItemBasedRefund(productId: item)
    } else {
      context.fullRefund = EmptyObject()
    }
    let request = RevokeSubscriptionRequest(revocationContext: context)
    try await options.perform(.revokeSubscription(token, with: request), "purchaseToken", token, "revoked")
  }
}

extension PlayRefundCommand {
  func run() async throws {
    let call = GooglePlayCall.refundOrder(orderId, revokesAccess: revoke ? true : nil)
    try await options.perform(call, "orderId", orderId, "refunded")
  }
}

extension PlayVoidedCommand {
  func run() async throws {
    var query = VoidedPurchasesQuery()
    query.startTime = try from.map { try parseInstant($0, "--from") }
    query.endTime = try to.map { try parseInstant($0, "--to") }
    query.type = subscriptions ? .oneTimeAndSubscriptions : nil
    query.includesPartialRefunds = partial ? true : nil
    try await options.withClient { client in
      for try await voided in client.voidedPurchases(query) {
        try options.show(voided.encodedJSON(), of: .voidedPurchases)
      }
    }
  }
}

extension PlayOrdersCommand {
  func run() async throws {
    guard orderIds.count > 1 else { return try await options.show(.order(orderIds.first ?? "")) }
    try await options.withClient { client in
      for order in try await client.send(.orders(orderIds)).orders ?? [] {
        try options.show(order.encodedJSON(), of: .orders)
      }
    }
  }
}

extension PlayReviewRefundCommand {
  func run() async throws {
    let call = GooglePlayCall.reviewRefund(of: orderId, with: try requestBody(in: file))
    try await options.perform(call, "orderId", orderId, "stated")
  }
}

extension PlayCancelCommand {
  func validate() throws {
    try refuse(["--stop-payments": stopPayments], unless: productV1 == nil, "has no effect with --v1")
  }

  func run() async throws {
    if let productV1 {
      let call = GooglePlayCall.cancelSubscriptionV1(of: productV1, token: token)
      return try await options.perform(call, "purchaseToken", token, "cancelled")
    }
    let request = CancelSubscriptionRequest(
      cancellationContext: PlayCancellationContext(
        cancellationType: stopPayments ? .developerStopsPayments : .userStopsRenewals))
    try await options.perform(.cancelSubscription(token, with: request), "purchaseToken", token, "cancelled")
  }
}

extension PlayDeferCommand {
  func validate() throws {
    try refuse(
      ["--days": days != nil, "--etag": etag != nil, "--dry-run": dryRun], unless: productV1 == nil,
      "has no effect with --v1")
    try refuse(["--from": from != nil, "--to": to != nil], unless: productV1 != nil, "needs --v1")
  }

  func run() async throws {
    if let productV1 {
      guard let from, let to else { throw ValidationError("--v1 needs --from and --to.") }
      let info = PlayDeferralInfo(
        expectedExpiryTime: try parseInstant(from, "--from"), desiredExpiryTime: try parseInstant(to, "--to"))
      let request = DeferSubscriptionV1Request(deferralInfo: info)
      return try await options.show(.deferSubscriptionV1(of: productV1, token: token, with: request))
    }
    guard let days, let etag, 1...366 ~= days else {
      throw ValidationError("It needs --etag, and --days of 1 to 366.")
    }
    var context = PlayDeferralContext(deferSeconds: Int64(days) * 86_400, etag: etag)
    context.validateOnly = dryRun ? true : nil
    let request = DeferSubscriptionRequest(deferralContext: context)
    try await options.show(.deferSubscription(token, with: request))
  }
}

extension PlayExternalCreateCommand {
  func run() async throws {
    try await options.show(.createExternalTransaction(id, with: try requestBody(in: file)))
  }
}

extension PlayExternalGetCommand {
  func run() async throws { try await options.show(.externalTransaction(id)) }
}

extension PlayExternalRefundCommand {
  func validate() throws {
    let given = [refundId != nil, amount != nil, currency != nil]
    guard given.allSatisfy({ $0 == given[0] }) else {
      throw ValidationError("--refund-id, --amount and --currency go together.")
    }
  }

  func run() async throws {
    var request = RefundExternalTransactionRequest(
      refundTime: try at.map { try parseInstant($0, "--at") } ?? SystemClock.now())
    if let refundId, let amount, let currency {
      request.partialRefund = PlayPartialExternalRefund(
        refundId: refundId, refundPreTaxAmount: PlayPrice(currency: currency, priceMicros: amount))
    } else {
      request.fullRefund = EmptyObject()
    }
    try await options.show(.refundExternalTransaction(id, with: request))
  }
}

extension PlayCatalogSubscriptionsCommand {
  func run() async throws {
    try await options.withClient { client in
      for try await each in client.catalogSubscriptions() {
        try options.show(each.encodedJSON(), of: .catalogSubscriptions)
      }
    }
  }
}

extension PlayCatalogOffersCommand {
  func validate() throws {
    try refuse(["--base-plan": basePlanId != "-"], unless: productId != "-", "needs --product")
  }

  func run() async throws {
    try await options.withClient { client in
      for try await each in client.catalogOffers(of: productId, basePlanId: basePlanId) {
        try options.show(each.encodedJSON(), of: .catalogOffers)
      }
    }
  }
}

extension PlayCatalogProductsCommand {
  func run() async throws {
    if let productId { return try await options.show(.catalogProduct(productId)) }
    try await options.withClient { client in
      for try await each in client.catalogProducts() {
        try options.show(each.encodedJSON(), of: .catalogProducts)
      }
    }
  }
}

/// The body of a request that a file has.
private func requestBody<Body: JSONObject>(in file: String) throws -> Body {
  let contents = try InputFile.contents(of: file, limit: 16 << 20)
  do throws(MalformedReceipt) {
    return try Body(json: contents, part: "request", limits: .standard)
  } catch {
    throw ToolExit.failure(for: error, file)
  }
}
