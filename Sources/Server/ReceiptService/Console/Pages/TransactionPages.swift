// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird

  /// The search in the audit trail.
  struct TransactionPages {
    let auditLog: AuditLog?

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/transactions", .scope(.read), respond: transactions)
      ]
    }

    private static let searches: [(label: String, name: String, key: EntrySearch.Key)] = [
      ("Original transaction", "original", .original), ("Transaction", "transaction", .transaction),
      ("Product", "product", .product), ("Customer", "customer", .customer),
      ("SHA-256 of the receipt", "receipt", .receipt),
    ]

    private func transactions(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.chosenApp()
      var search = EntrySearch()
      search.limit = 50
      search.before = UInt64(
        try visit.request.integerParameter("before", 0...Int64.max, default: .max))
      // ?original=… is a short form of ?by=original&value=…, for links to a search.
      let named = try Self.searches.first { try visit.query($0.name) != nil }
      let by = try named?.name ?? visit.query("by")
      let value = try named.map { try visit.query($0.name) ?? "" } ?? visit.query("value")
      if let value, let found = Self.searches.first(where: { $0.name == by }) {
        search.key = (found.key, value)
      }
      let verdict = try visit.query("verdict")
      let environment = try visit.query("environment")
      let log = try auditLog.served
      let audience = try visit.audience()
      let (entries, next) = try await log.read { [search] view in
        try search.page(in: view) { entry in
          audience.includes(entry) && (verdict == nil || entry.verdict?.rawValue == verdict)
            && (environment == nil || entry.environment == environment)
        }
      }
      let parameters = [
        ("by", value == nil ? nil : by), ("value", value), ("verdict", verdict), ("environment", environment),
        ("app", app?.name),
      ]
      let path = "/console/transactions"
      return visit.page(
        "transactions", title: "Transactions",
        [
          "searchChoice": ChoiceView(
            name: "by", label: "Search by", options: Self.searches.map { ($0.name, $0.label) },
            chosen: by ?? ""),
          "searched": value ?? "",
          "verdictChoice": ChoiceView(
            name: "verdict", label: "Verdict",
            options: [("", "any")] + RecordedVerdict.allCases.map { ($0.rawValue, $0.rawValue) },
            chosen: verdict ?? ""),
          "environmentChoice": ChoiceView(
            name: "environment", label: "Environment",
            options: [("", "any")] + ["Production", "Sandbox", "Xcode", "LocalTesting"].map { ($0, $0) },
            chosen: environment ?? ""),
          "appChoice": visit.appChoice(app, orAll: try visit.login.isForAllApps),
          "table": EntryTable.view(
            "Entries of the audit trail, newest first", entries, app: app?.name,
            empty: parameters.contains { $0.0 != "app" && $0.1?.isEmpty == false }
              ? EmptyView(
                "No entries match these filters",
                next == nil ? "Check the spelling, or remove a filter." : "None of the newest 10,000 does.",
                link: ConsoleURL.make(path, [("app", app?.name)]), "Remove the filters")
              : EntryTable.nothingYet),
          "nextPage": next.map { ConsoleURL.make(path, parameters + [("before", "\($0)")]) },
          "isFirstPage": search.before == UInt64(Int64.max), "firstPage": ConsoleURL.make(path, parameters),
        ])
    }
  }

  enum EntryTable {
    static func view(
      _ caption: String, _ entries: [RecordedEntry], app: String?, empty: EmptyView = EmptyView("No entries"),
      footer: ListFooter? = nil
    ) -> TableView {
      TableView(
        caption, ["Entry", "Time", "What", "Verdict", "Product", "Transaction", "Original transaction"],
        entries.map { recorded in
          let entry = recorded.entry
          return [
            CellView("\(recorded.index)", link: ConsoleURL.entry(recorded.index)), CellView(entry.time),
            CellView(
              words: entry.notification.map { type in
                [type, entry.subtype].compactMap(\.self).joined(separator: " ")
              } ?? (entry.verdict == .valid ? entry.format : nil) ?? entry.kind.rawValue,
              note: environment(entry)),
            entry.verdict.map { CellView(VerdictView($0.rawValue)) } ?? CellView(nil as String?),
            CellView(entry.product), CellView(identifier: entry.transaction),
            CellView(
              identifier: entry.original,
              link: entry.original.map {
                ConsoleURL.make("/console/transactions", [("original", $0), ("app", app)])
              }),
          ]
        }, empty: empty, footer: footer)
    }

    /// The text for a trail without entries.
    static let nothingYet = EmptyView(
      "Nothing was recorded yet",
      "A verdict is recorded when a backend posts a receipt to /v1/verify, or when a store sends a notification.",
      link: "/console/verify", "Verify a receipt")

    /// The environment, if it is not that of real purchases.
    private static func environment(_ entry: AuditEntry) -> String? {
      entry.environment.flatMap { $0 == "Production" ? nil : $0 }
    }
  }
#endif
