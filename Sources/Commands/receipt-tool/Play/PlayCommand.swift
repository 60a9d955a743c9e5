// SPDX-License-Identifier: Apache-2.0

import GooglePlay
import ReceiptCodec

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
  func run() async throws {
    let call: GooglePlayCall<NoContent>
    switch type {
    case .product:
      let request = ProductAcknowledgeRequest().with { $0.developerPayload = payload }
      call = .acknowledgeProduct(of: product, token: token, with: request)
    case .subscription:
      let request = SubscriptionAcknowledgeRequest().with { $0.developerPayload = payload }
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
