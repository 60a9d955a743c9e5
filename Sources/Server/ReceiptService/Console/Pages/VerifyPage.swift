// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ReceiptVerification

  /// The page that verifies what a person pastes, and shows the verdict with the history of the purchase.
  ///
  /// It records nothing unless the person asks for it.
  struct VerifyPage {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/verify", .scope(.verify)) { visit in
          try verifyPage(visit, receipt: [], verdict: nil)
        },
        ConsoleRoute(.post, "/console/verify", .scope(.verify)) { visit in
          try await answer(visit, visit.form.bytes("file") ?? visit.form.bytes("receipt") ?? [])
        },
      ]
    }

    /// Verifies a receipt, and makes the page with the verdict.
    ///
    /// - Throws: ``Problem`` without a receipt, or for an unknown policy; the errors of the trail and the database.
    func answer(_ visit: ConsoleVisit, _ given: [UInt8]) async throws -> Response {
      let receipt = ReceiptText.isBinary(given) ? given : ReceiptText.trimming(given)
      guard !receipt.isEmpty else {
        throw Problem(.badRequest, "no-receipt", "Paste a receipt, or choose a file.")
      }
      let app = try visit.app()
      let verification = try Verification(app, policy: visit.form["policy"], customer: nil, entitlements)
      let isRecorded = visit.form["record"] != nil
      let (verdict, acknowledgement) = try await verification.verdict(on: receipt, isRecorded: isRecorded)
      let consulted = try await verification.consultingLedger(verdict)
      let now = entitlements.clock()
      let firstField = visit.form["fields"].flatMap { Int($0) }
      let contents = ReceiptContents(receipt, consulted, app: app.name, firstField: firstField ?? 0, at: now)
      let summary = VerdictSummary(verdict, consulted: consulted, app: app.name, at: now)
      let known = try visit.may(.read) ? await known(receipt, consulted, app: app, at: now) : nil
      return try verifyPage(
        visit, receipt: receipt,
        verdict: ConsoleVisit.present([
          "summary": summary, "contents": contents, "known": known.map { $0.view },
          "isUnverified": consulted.signatureVerified == nil,
          "recorded": isRecorded
            ? recorded(acknowledgement, app: app, canRead: try canRead(visit, verdict)) : nil,
          "isFieldPage": firstField != nil,
          "isEveryFieldFolded": firstField == nil,
        ]))
    }

    /// Returns `true` if the login may see the entry of a verdict. The entry of a receipt that is not genuine belongs to
    /// nobody.
    private func canRead(_ visit: ConsoleVisit, _ verdict: Verdict) throws -> Bool {
      try visit.may(.read) && (visit.login.isForAllApps || verdict.receipt != nil)
    }

    private func recorded(
      _ acknowledgement: AuditAcknowledgement?, app: ServedApp, canRead: Bool
    ) -> [String: Any] {
      guard let acknowledgement else {
        return ["recordedText": "Nothing was recorded: verdicts of \(app.name) are not."]
      }
      let text =
        acknowledgement.isRepeat
        ? "The same verdict was recorded before." : "This verdict was recorded in the audit trail."
      return ConsoleVisit.present([
        "recordedText": text, "recordedEntry": "Entry \(acknowledgement.index)",
        "recordedTarget": canRead ? ConsoleURL.entry(acknowledgement.index) : nil,
      ])
    }

    // MARK: What is known of the purchase

    /// The maximum number of purchases of a receipt whose history is shown.
    private static let maximumPurchaseCount = 5
    /// The maximum number of events before the link to all of them.
    private static let maximumEventCount = 5

    /// What the ledger and the audit trail know of a receipt's purchases, and of the receipt.
    private func known(
      _ receipt: [UInt8], _ verdict: Verdict, app: ServedApp, at now: Timestamp
    ) async throws -> (view: [String: Any], Void) {
      let verified = verdict.signatureVerified
      var purchases: [String] = []
      for purchase in verified?.purchases ?? [] {
        let id = purchase.purchaseToken ?? purchase.originalTransactionId ?? purchase.transactionId
        if let id, !purchases.contains(id) { purchases.append(id) }
      }
      let identifiers = Array(purchases.prefix(Self.maximumPurchaseCount))
      var stored: [StoredEntitlement] = []
      var changes: [EntitlementChange] = []
      for identifier in identifiers {
        let found = try await entitlements.entitlements(app: app.name, identifier: identifier)
        stored += found
        for entitlement in found {
          changes += try await entitlements.history(app: app.name, name: entitlement.name).suffix(200)
        }
      }
      let digest =
        verified.flatMap { SHA256Digest($0.identity) }
        ?? SHA256Digest(of: (try? UnverifiedReceipt(parsing: receipt))?.encoded ?? receipt)
      let (trail, earlier) =
        try await auditLog?.read { view in
          (
            try TrailHistory(of: nil, purchases: identifiers, app: app, in: view),
            try view.entries(receipt: digest, limit: 1).filter { app.isAbout($0.entry) }
          )
        } ?? (nil, [])
      let history = PurchaseHistory(of: stored, changes: changes, entries: trail?.entries, at: now)
      let customer = stored.lazy.compactMap(\.customer).first ?? verified?.appAccountToken
      let single = purchases.count == 1 ? verified?.purchases.last : nil
      let links = [
        FactView(
          "Customer", identifier: customer,
          link: customer.flatMap {
            $0.utf8.count > ConsoleURL.longestIdentifier ? nil : ConsoleURL.customer($0, app: app.name)
          }),
        purchases.count == 1
          ? FactView(
            "Entitlement", identifier: purchases.first,
            link: history.hasPage(purchases[0]) ? ConsoleURL.entitlement(purchases[0], app: app.name) : nil)
          : nil,
        FactView(
          "Transaction", identifier: single?.transactionId,
          link: single?.transactionId.flatMap { ConsoleURL.transaction($0) }),
        FactView(
          "Presented before",
          earlier.first.map {
            "entry \($0.index), on \(ShownTime.full(Timestamp(milliseconds: $0.entry.time)))"
          } ?? (auditLog == nil ? nil : "no, or it was not recorded"),
          link: earlier.first.map { ConsoleURL.entry($0.index) }),
      ]
      let latest = history.events.suffix(Self.maximumEventCount).reversed()
      let rest = history.events.count - latest.count
      return (
        ConsoleVisit.present([
          "links": ["facts": links.compactMap(\.self)],
          "eventTable": verified == nil || purchases.isEmpty
            ? nil
            : TableView(
              "History of the purchase, latest first",
              ["Happened", "Event", "Purchase", "Received", "Entry"],
              latest.map { HistoryView.row($0, number: nil, in: history, app: app.name) },
              empty: EmptyView(
                "This server knows nothing of it",
                "No notification of the store was received, and nobody presented it. Have your backend present it for the "
                  + "customer.")),
          "allEvents": rest > 0 && stored.count > 0
            ? [
              "allEventsText": "\(rest) earlier \(rest == 1 ? "event" : "events")",
              "allEventsTarget": ConsoleURL.entitlement(stored[0].identifier, app: app.name),
            ] : nil,
        ]), ()
      )
    }

    // MARK: The form

    private func verifyPage(
      _ visit: ConsoleVisit, receipt: [UInt8], verdict: [String: Any]?
    ) throws -> Response {
      let app = try visit.app()
      let policies = app.configuration.policies.keys.sorted()
      let isText = receipt.allSatisfy { 0x20..<0x7F ~= $0 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
      // The form sends the receipt again to show more fields, or to verify under another policy.
      let receiptText = isText ? String(decoding: receipt, as: UTF8.self) : Base64.encodeToString(receipt)
      return visit.page(
        "verify", title: "Verify a receipt",
        [
          "appChoice": visit.appChoice(app),
          // Policies are known only after an app is chosen.
          "policyChoice": policies.count < 2
            ? nil
            : ChoiceView(
              name: "policy", label: "Policy", options: policies.map { ($0, $0) },
              chosen: visit.form["policy"] ?? AppConfiguration.defaultPolicy),
          "canRecord": visit.apps.contains { $0.configuration.recordsVerdicts },
          "receiptText": receiptText, "verdict": verdict, "isAsking": verdict == nil,
        ])
    }
  }
#endif
