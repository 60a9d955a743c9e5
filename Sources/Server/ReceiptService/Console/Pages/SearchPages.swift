// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import RemoteChecks

  /// The search field of every page, and the page with what was found.
  ///
  /// The field is posted, so that a receipt comes into no address and no log. What is short, as identifiers are, leads to an
  /// address that can be kept.
  struct SearchPages {
    static let path = "/console/search"

    let index: SearchIndex
    let verifyPage: VerifyPage

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, Self.path, .scope(.read), respond: resultPage),
        ConsoleRoute(.post, Self.path, .login, respond: search),
        ConsoleRoute(.post, Self.path + "/ask", .scope(.verify), respond: ask),
      ]
    }

    private func search(_ visit: ConsoleVisit) async throws -> Response {
      let bytes = ReceiptText.trimming(visit.form.bytes("text") ?? [])
      let text = String(decoding: bytes, as: UTF8.self)
      guard !bytes.isEmpty else { return ConsoleVisit.redirect(to: "/console") }
      let meanings = SearchMeaning.list(of: text)
      if meanings == [.receipt] || visit.form["receipt"] != nil {
        try visit.login.require(.verify)
        var visit = visit
        visit.taken = .receipt
        return try await verifyPage.answer(visit, bytes)
      }
      try visit.login.require(.read)
      for meaning in meanings {
        let hits = try await index.hits(text, meaning, visit)
        guard let hit = hits.first else { continue }
        guard hits.count == 1 else { break }
        return ConsoleVisit.redirect(
          to: ConsoleURL.adding([("taken", meaning.rawValue), ("q", text)], to: hit.target))
      }
      return ConsoleVisit.redirect(to: ConsoleURL.make(Self.path, [("q", text)]))
    }

    private func resultPage(_ visit: ConsoleVisit) async throws -> Response {
      let text = try visit.query("q") ?? ""
      guard !text.isEmpty, text.utf8.count <= SearchMeaning.maximumByteCount else { throw Problem.notFound }
      return try await page(visit, text)
    }

    private func page(
      _ visit: ConsoleVisit, _ text: String, answer: String? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
      let meanings = SearchMeaning.list(of: text)
      var hits: [SearchIndex.Hit] = []
      for meaning in meanings { hits += try await index.hits(text, meaning, visit) }
      let meaning = hits.first?.meaning ?? meanings.first ?? .customer
      let missing = meanings.filter { other in
        other != meaning && !hits.contains { $0.meaning == other }
      }
      let questions = visit.may(.verify) ? Self.questions(text, meanings, visit) : []
      return visit.page(
        "search", title: "Search", status: status,
        [
          "searched": IdentifierView(text), "searchedFor": meaning.name, "answer": answer,
          "found": hits.isEmpty
            ? nil
            : TableView(
              "Found", ["Page", "The text is", "App"],
              hits.map { hit in
                [
                  CellView(hit.title, link: hit.target), CellView(hit.meaning.name),
                  CellView(hit.app ?? "all"),
                ]
              }),
          "nothing": hits.isEmpty
            ? EmptyView("Nothing is known of it as \(meaning.name)", Self.advice(meaning)) : nil,
          "missing": missing.isEmpty ? nil : missing.map(\.name).joined(separator: ", "),
          "questions": questions, "hasQuestions": !questions.isEmpty,
          "text": text, "mayVerify": visit.may(.verify),
        ])
    }

    /// What to do about a text of which nothing is known.
    private static func advice(_ meaning: SearchMeaning) -> String {
      switch meaning {
      case .receipt: "Paste it on the page that verifies receipts."
      case .entry: "The audit trail has no entry with this number, or this key may not see it."
      case .transaction:
        "No receipt and no notification with it reached this server. Ask the store, or have the app present its receipt again."
      case .appStoreOrder:
        "The number of an order is in the customer's e-mail from Apple, and in no receipt. Only the App Store knows its "
          + "transactions: ask it here, which needs its credentials in the app's configuration."
      case .googlePlayOrder:
        "No purchase of this order reached this server. Search for the customer, or for the purchase token, which the Play "
          + "Console shows with the order."
      case .purchaseToken:
        "No purchase with it reached this server. Ask Google Play, which needs its credentials in the app's configuration."
      case .customer:
        "No purchase names this customer. An identifier is compared as a whole: it is the account token in the receipt, or "
          + "the identifier that your backend passes. If you have a transaction or an order of the customer, search for that."
      case .digest: "No verdict on a receipt with this SHA-256 was recorded."
      case .grant: "There is no such grant."
      case .product: "No receipt of this product was recorded."
      }
    }

    // MARK: Asking a store

    /// The buttons that ask the stores of apps about a text.
    private static func questions(
      _ text: String, _ meanings: [SearchMeaning], _ visit: ConsoleVisit
    ) -> [[String: Any]] {
      meanings.flatMap { meaning in
        guard let reference = SearchIndex.reference(text, meaning) else { return [[String: Any]]() }
        return visit.apps.filter { $0.configuration.lookup?.canAsk(about: reference) == true }.map { app in
          [
            "questionApp": app.name, "questionMeaning": meaning.rawValue,
            "question":
              "Ask \(reference.store == "app-store" ? "the App Store" : "Google Play") about it, for \(app.name)",
          ]
        }
      }
    }

    /// Asks a store about a text, records the answer as the API does, and searches again.
    private func ask(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let text = visit.form["text"] ?? ""
      guard let meaning = visit.form["meaning"].flatMap(SearchMeaning.init(rawValue:)),
        let reference = SearchIndex.reference(text, meaning)
      else { throw Problem.invalid("text", "No store can be asked about it.") }
      let verification = try Verification(app, policy: nil, customer: nil, index.entitlements)
      guard let (outcome, _) = try await verification.lookUp(reference) else {
        throw Problem(.notFound, "no-credentials", "The app has no credentials for \(reference.store).")
      }
      let answer = outcome.answer
      let found = answer.purchases.last
      let identifier = found?.purchaseToken ?? found?.originalTransactionId ?? found?.transactionId
      if let identifier, visit.may(.read),
        try await !index.entitlements.entitlements(app: app.name, identifier: identifier).isEmpty
      {
        return ConsoleVisit.redirect(to: ConsoleURL.entitlement(identifier, app: app.name))
      }
      let said = answer.reason.map { "\(answer.word): \($0.message)" } ?? answer.word
      return try await page(visit, text, answer: "The store says: \(said)")
    }
  }
#endif
