// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import GooglePlay
import ReceiptCodec

struct PlayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Call the Google Play Developer API: purchases, refunds, voided purchases.",
    discussion: """
      Answers are printed as Google Play gives them, one JSON object a line; of a
      call that answers nothing, what it did. With --json each is the member
      response of an object that also names the endpoint.

      EXAMPLES:
        receipt-tool play get TOKEN --type subscription \\
          --package com.example.app --service-account key.json
        receipt-tool play acknowledge TOKEN --type product --product coins \\
          --package com.example.app
        receipt-tool play consume TOKEN --product coins --package com.example.app
        receipt-tool play revoke TOKEN --prorated --package com.example.app
        receipt-tool play refund GPA.1234-5678-9012-34567 --revoke \\
          --package com.example.app
        receipt-tool play voided --subscriptions --from 2025-10-01T00:00:00Z \\
          --package com.example.app

      EXIT CODES:
        0 answered; 1 refused, or the purchase is not known; 2 no answer now, try
        again later; 64 wrong command line or missing credentials; 66 a file cannot
        be read; 74 the output cannot be written.
      """,
    subcommands: [
      PlayGetCommand.self, PlayAcknowledgeCommand.self, PlayConsumeCommand.self, PlayRevokeCommand.self,
      PlayRefundCommand.self, PlayVoidedCommand.self,
    ])
}

struct PlayGetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "get", abstract: "Show a purchase.")
  @OptionGroup var options: PlayOptions
  @Argument("The purchase token.") var token: String
  @Option("type", "What it is of: product or subscription.") var type: PlayProductType
  @Option(
    "v1", "Show the older form of a purchase of this product, which states the consumption.", value: "PRODUCT"
  )
  var productV1: String?

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

struct PlayAcknowledgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge",
    abstract: "Acknowledge a purchase, which Google refunds otherwise after three days.")
  @OptionGroup var options: PlayOptions
  @Argument("The purchase token.") var token: String
  @Option("type", "What it is of: product or subscription.") var type: PlayProductType
  @Option("product", "The product.", value: "ID") var product: String
  @Option("payload", "A text that the purchase keeps.", value: "TEXT") var payload: String?

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

struct PlayConsumeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "consume", abstract: "Consume a one-time purchase, so that it may be bought again.")
  @OptionGroup var options: PlayOptions
  @Argument("The purchase token.") var token: String
  @Option("product", "The product.", value: "ID") var product: String

  func run() async throws {
    try await options.perform(.consumeProduct(of: product, token: token), "purchaseToken", token, "consumed")
  }
}

struct PlayRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Refund a subscription and end it at once: the whole latest payment, unless told otherwise.")
  @OptionGroup var options: PlayOptions
  @Argument("The purchase token.") var token: String
  @Flag("prorated", "Refund only the part that was not used yet.") var prorated = false
  @Option("item", "Refund only this product of several.", value: "ID") var item: String?

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

struct PlayRefundCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "refund", abstract: "Refund an order.")
  @OptionGroup var options: PlayOptions
  @Argument("The order, such as GPA.1234-5678-9012-34567.") var orderId: String
  @Flag("revoke", "End the access, too.") var revoke = false

  func run() async throws {
    let call = GooglePlayCall.refundOrder(orderId, revokesAccess: revoke ? true : nil)
    try await options.perform(call, "orderId", orderId, "refunded")
  }
}

struct PlayVoidedCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "voided",
    abstract: "List the purchases that were refunded, charged back or revoked, of the last 30 days at most.")
  @OptionGroup var options: PlayOptions
  @Option("from", "The first instant; by default 30 days ago.", value: "ISO8601") var from: String?
  @Option("to", "The last instant; by default now.", value: "ISO8601") var to: String?
  @Flag("subscriptions", "List subscriptions, too.") var subscriptions = false
  @Flag("partial", "List refunds of a part of the quantity, too.") var partial = false

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
