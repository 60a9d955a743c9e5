// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptCodec
import Storefront

extension StoreSubscriptionCommand {
  func validate() throws {
    let changes = [cancels, resumes, change != nil, extensionDays != nil].filter { $0 }.count
    guard changes <= 1 else { throw ValidationError("One change at a time.") }
    guard changes == 0 || original != nil else {
      throw ValidationError("Name the subscription that is to change, by its original transaction.")
    }
    try refuse(
      ["--account": options.namedAccount != nil], unless: original == nil,
      "has no effect if the subscription is given")
  }

  func run() async throws {
    try await OpenStore.with(options.folder) { open in
      if let original {
        let notifications = try await changed(original, open.store)
        if let notifications {
          try output.write(notifications)
          return
        }
        guard let subscription = try await open.store.subscription(original) else {
          throw ToolExit.failure(.invalid, "there is no subscription \(original)")
        }
        try write(subscription, at: open.settings.now)
        return
      }
      for subscription in try await open.store.subscriptions(of: options.account) {
        try write(subscription, at: open.settings.now)
      }
    }
  }

  private func changed(_ original: String, _ store: LocalStore) async throws -> [SignedNotification]? {
    if cancels || resumes { return try await store.perform(.setAutoRenew(resumes, of: original)) }
    if let change { return try await store.perform(.changeRenewal(of: original, to: change)) }
    if let extensionDays { return try await store.perform(.extend(original, byDays: extensionDays)) }
    return nil
  }

  private func write(_ subscription: Subscription, at now: Timestamp) throws {
    let status = subscription.status(at: now).rawValue
    let (original, product) = (subscription.originalTransactionIdentifier, subscription.productIdentifier)
    let (expires, next) = (subscription.expiresDate, subscription.autoRenewProductIdentifier)
    let ownership: InAppOwnershipType = subscription.isFamilyShared ? .familyShared : .purchased
    try output.write(
      Output.StoreSubscription(
        originalTransactionId: original, productId: product, state: status, expiresDate: expires,
        autoRenewStatus: (subscription.autoRenews ? AutoRenewStatus.on : .off).rawValue,
        autoRenewProductId: next, transactionId: subscription.transaction.transactionId,
        inAppOwnershipType: ownership.rawValue),
      "\(original)  \(product)  \(status)  until \(expires.iso8601)  "
        + (subscription.autoRenews ? "renews to \(next)" : "does not renew"))
  }
}

extension StoreRenewCommand {
  func run() async throws {
    let notifications = try await OpenStore.with(options.folder) {
      try await $0.store.perform(.renewNow(original))
    }
    try output.write(notifications)
  }
}

extension StoreRefundCommand {
  func validate() throws {
    guard !(reverses && declines) else { throw ValidationError("Give --reverse or --decline, not both.") }
    try refuse(
      ["--issue": hasIssue], unless: !reverses && !declines, "has no effect with --reverse or --decline")
  }

  func run() async throws {
    let notifications = try await OpenStore.with(options.folder) { open in
      if reverses { return try await open.store.reverseRefund(transaction) }
      if declines { return try await open.store.declineRefund(transaction) }
      return try await open.store.refund(transaction, reason: hasIssue ? .issue : .other)
    }
    try output.write(notifications)
  }
}
