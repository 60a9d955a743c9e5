// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import ReceiptCodec
  internal import RemoteChecks

  /// Finds what a text names, in the ledger and in the audit trail, for the apps that a key may see.
  ///
  /// Each meaning costs a few lookups in an index for each app.
  struct SearchIndex: Sendable {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    /// A page that shows what a text names.
    struct Hit: Sendable, Hashable {
      let meaning: SearchMeaning
      /// The app; `nil` if the page is about all apps.
      let app: String?
      let target: String
      /// The title of the page.
      let title: String
    }

    /// Returns the pages for a text with a meaning, at most one for each app.
    func hits(_ text: String, _ meaning: SearchMeaning, _ visit: ConsoleVisit) async throws -> [Hit] {
      guard visit.may(.read) else { return [] }
      switch meaning {
      case .receipt, .appStoreOrder: return []
      case .entry:
        let digits = text.drop { $0 == "#" }
        guard let index = UInt64(digits), let auditLog else { return [] }
        let isVisible = try await auditLog.read { view in
          guard index < view.size else { return false }
          let entry = try view.entry(at: index).entry
          return visit.principal?.isForAllApps == true || visit.apps.contains { $0.isAbout(entry) }
        }
        guard isVisible else { return [] }
        return [Hit(meaning: .entry, app: nil, target: ConsoleURL.entry(index), title: "Entry \(index)")]
      case .digest: return try await entries(text, .receipt, .digest, visit)
      case .product: return try await entries(text, .product, .product, visit)
      case .customer:
        let found = try await hits(in: visit.apps, .customer) { app in
          try await entitlements.entitlements(app: app.name, customer: text).isEmpty
            ? nil : (ConsoleURL.customer(text, app: app.name), "Customer")
        }
        return found.isEmpty ? try await entries(text, .customer, .customer, visit) : found
      case .purchaseToken, .grant: return try await entitlement(text, meaning, visit)
      case .transaction, .googlePlayOrder:
        let found = try await entitlement(text, meaning, visit)
        if !found.isEmpty { return found }
        // A renewal leads to its subscription; that of an order is the order with a number behind it.
        let order = text.split(separator: "..", maxSplits: 1).first.map(String.init) ?? text
        for name in meaning == .googlePlayOrder ? [text, order] : [text] {
          let found = try await entries(name, .transaction, meaning, visit)
          if !found.isEmpty { return found }
        }
        let reviews = try await hits(in: visit.apps, meaning) { app in
          try await entitlements.refundReviews(app: app.name, identifier: text).isEmpty
            ? nil : (ConsoleURL.refundReview(text, app: app.name), "Refund review")
        }
        if !reviews.isEmpty { return reviews }
        return meaning == .transaction ? try await entries(text, .original, meaning, visit) : []
      }
    }

    private func entitlement(
      _ identifier: String, _ meaning: SearchMeaning, _ visit: ConsoleVisit
    ) async throws -> [Hit] {
      try await hits(in: visit.apps, meaning) { app in
        try await entitlements.entitlements(app: app.name, identifier: identifier).isEmpty
          ? nil : (ConsoleURL.entitlement(identifier, app: app.name), "Entitlement")
      }
    }

    /// Returns the entitlement of the newest entry with a value, or the list of such entries.
    private func entries(
      _ value: String, _ key: EntrySearch.Key, _ meaning: SearchMeaning, _ visit: ConsoleVisit
    ) async throws -> [Hit] {
      guard let auditLog else { return [] }
      return try await hits(in: visit.apps, meaning) { app in
        let entry = try await auditLog.read { view in
          var search = EntrySearch()
          search.key = (key, value)
          search.limit = 1
          return try search.page(in: view) { app.isAbout($0) }.entries.first?.entry
        }
        guard let entry else { return nil }
        if key == .transaction, let original = entry.original, original != value,
          try await !entitlements.entitlements(app: app.name, identifier: original).isEmpty
        {
          return (ConsoleURL.entitlement(original, app: app.name), "Entitlement")
        }
        let target = ConsoleURL.make("/console/transactions", [(key.rawValue, value), ("app", app.name)])
        return (target, "Entries of the audit trail")
      }
    }

    private func hits(
      in apps: [ServedApp], _ meaning: SearchMeaning,
      _ find: (ServedApp) async throws -> (target: String, title: String)?
    ) async throws -> [Hit] {
      var found: [Hit] = []
      for app in apps {
        guard let (target, title) = try await find(app) else { continue }
        found.append(Hit(meaning: meaning, app: app.name, target: target, title: title))
      }
      return found
    }

    // MARK: Asking stores

    /// Returns the reference by which a store can be asked about a text; `nil` if no store has such identifiers.
    static func reference(_ text: String, _ meaning: SearchMeaning) -> PurchaseReference? {
      let store = meaning == .purchaseToken ? "google-play" : "app-store"
      switch meaning {
      case .transaction: return try? PurchaseReference(store: store, transactionId: text)
      case .appStoreOrder: return try? PurchaseReference(store: store, orderId: text)
      case .purchaseToken: return try? PurchaseReference(store: store, purchaseToken: text)
      default: return nil
      }
    }
  }
#endif
