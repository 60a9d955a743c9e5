// SPDX-License-Identifier: Apache-2.0

#if Server
  package import AppStoreServer
  package import Entitlements
  package import GooglePlay
  internal import ReceiptCodec

  /// Asks a store about a subscription; `nil` where nobody can be asked about it.
  package typealias StoreQuestion = @Sendable (StoredEntitlement) async throws -> EntitlementLedger?

  extension ServiceEntitlements {
    /// For how long other processes leave a subscription to the one that asks about it.
    private static let claim: Double = 3_600
    /// How long one about which nobody can be asked is left alone.
    private static let pause: Double = 86_400

    /// Asks the stores about subscriptions that went silent, and merges the answers: those whose renewal was due without a
    /// word, and those that the store tries to charge for and does not mention.
    ///
    /// - Parameters:
    ///   - limit: About how many at most.
    ///   - ask: Asks the store of an app. Where it throws, it is asked again an hour later.
    /// - Returns: About how many it was asked; as many as `limit` where there may be more.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func reconcile(
      limit: Int = 20, _ ask: @Sendable (_ app: String, StoredEntitlement) async throws -> EntitlementLedger?
    ) async throws -> Int {
      let now = clock()
      let silent = try await database.write { session in
        let rows = try session.run(
          """
          SELECT app, name, identifier, customer, ledger FROM ledgers WHERE reconcile <= ?1
          ORDER BY reconcile LIMIT ?2 FOR UPDATE SKIP LOCKED
          """, .integer(now.milliseconds), .integer(Int64(limit)))
        return try rows.map { row in
          let entitlement = StoredEntitlement(
            name: row.text(1), identifier: row.text(2), customer: row.optionalText(3),
            ledger: try EntitlementLedger(stored: row.bytes(4)))
          try Self.postpone(
            entitlement.name, app: row.text(0), until: now.addingSeconds(Self.claim), in: session)
          return (app: row.text(0), entitlement)
        }
      }
      for (app, entitlement) in silent {
        guard !Task.isCancelled else { break }
        let answer: EntitlementLedger?
        do { answer = try await ask(app, entitlement) } catch { continue }
        if let answer {
          try await merge(answer, app: app)
        } else {
          try await database.write { session in
            try Self.postpone(entitlement.name, app: app, until: now.addingSeconds(Self.pause), in: session)
          }
        }
      }
      return silent.count
    }

    private static func postpone(
      _ name: String, app: String, until instant: Timestamp, in session: any DatabaseSession
    ) throws {
      try session.run(
        "UPDATE ledgers SET reconcile = ?3 WHERE app = ?1 AND name = ?2", .text(app), .text(name),
        .integer(instant.milliseconds))
    }
  }

  extension StoredEntitlement {
    /// What the App Store answers about the subscription (Get All Subscription Statuses); `nil` for one of another store
    /// or environment.
    package func ask(_ client: AppStoreServerClient) async throws -> EntitlementLedger? {
      guard let entitlement = ledger.entitlements.first,
        entitlement.id.environment == client.raw.address.environment
      else { return nil }
      var answer = EntitlementLedger()
      for subscription in try await client.send(
        .subscriptionStatuses(of: entitlement.originalTransactionId))
      {
        try answer.apply(
          transaction: subscription.purchase.transaction.receipt,
          renewalInfo: subscription.purchase.renewalInfo?.receipt, status: subscription.status)
      }
      return answer
    }

    /// What Google Play answers about the purchase; `nil` for one of another store.
    package func ask(_ client: GooglePlayClient) async throws -> EntitlementLedger? {
      guard let purchase = ledger.playEntitlements.first else { return nil }
      return try await client.calling(for: purchase.id.packageName).ledger(
        of: purchase.id, isSubscription: purchase.isSubscription)
    }
  }
#endif
