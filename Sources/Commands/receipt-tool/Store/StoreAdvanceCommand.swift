// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptVerification
import Storefront

extension StoreAdvanceCommand {
  func validate() throws {
    guard (by == nil) != (to == nil) else { throw ValidationError("Give --by or --to.") }
    guard by.map({ SubscriptionPeriod($0) != nil }) ?? true else {
      throw ValidationError("--by takes a period such as P3D, P1W, P1M or P1Y.")
    }
    try refuse(["--account": options.namedAccount != nil], unless: hasBillingIssue, "needs --billing-issue")
  }

  func run() async throws {
    let (notifications, target) = try await OpenStore.with(options.folder) { open in
      let now = open.settings.now
      let target = try end(from: now)
      guard target >= now else {
        throw ToolExit.failure(.usage, "the store's clock shows \(now.iso8601) and does not go back")
      }
      let before = try await Self.lastNumber(open.store)
      do {
        try await advance(open, to: target)
      } catch {
        try? await open.endAdvance()
        throw error
      }
      return (try await Self.notifications(open.store, after: before), target)
    }
    try output.write(notifications)
    note("receipt-tool: the store's clock shows \(target.iso8601)")
  }

  /// Advances the store and its clock. If it is interrupted, ``OpenStore/endAdvance()`` completes it.
  private func advance(_ open: OpenStore, to target: Timestamp) async throws {
    if hasBillingIssue {
      try open.settings.set(billingIssueOf: options.account)
      try await open.store.perform(.setBillingIssue(true, of: options.account))
    }
    try await open.store.advance(to: target)
    if hasBillingIssue { try await open.store.perform(.setBillingIssue(false, of: options.account)) }
    try open.settings.set(time: target, billingIssueOf: nil)
  }

  private func end(from now: Timestamp) throws -> Timestamp {
    if let to { return try parseInstant(to, "--to") }
    guard let period = by.flatMap({ SubscriptionPeriod($0) }) else { return now }
    return SubscriptionCalendar().end(of: period, from: now)
  }

  static func lastNumber(_ store: LocalStore) async throws -> Int64 {
    var last: Int64 = 0
    while let end = try await store.notifications(after: last).last { last = end.number }
    return last
  }

  static func notifications(_ store: LocalStore, after number: Int64) async throws -> [SignedNotification] {
    var all: [SignedNotification] = []
    while true {
      let page = try await store.notifications(after: all.last?.number ?? number)
      if page.isEmpty { return all }
      all += page
    }
  }
}

extension StoreNotificationsCommand {
  func run() async throws {
    try await OpenStore.with(options.folder) { open in
      var last = after
      while true {
        let page = try await open.store.notifications(after: last)
        try output.write(page, signed: true)
        guard let end = page.last else { return }
        last = end.number
      }
    }
  }
}
