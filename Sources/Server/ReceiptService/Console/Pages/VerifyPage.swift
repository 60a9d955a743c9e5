// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptInspection
  internal import ReceiptVerification

  struct VerifyPage {
    let entitlements: ServiceEntitlements

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/verify", .scope(.verify)) { visit in
          try verifyPage(visit, receipt: [], result: nil)
        },
        ConsoleRoute(.post, "/console/verify", .scope(.verify)) { visit in
          try await answer(visit, visit.form.bytes("file") ?? visit.form.bytes("receipt") ?? [])
        },
      ]
    }

    /// Verifies a receipt, and makes the page with the verdict.
    func answer(_ visit: ConsoleVisit, _ given: [UInt8]) async throws -> Response {
      let receipt = ReceiptText.isBinary(given) ? given : ReceiptText.trimming(given)
      guard !receipt.isEmpty else {
        throw Problem(.badRequest, "no-receipt", "Paste a receipt, or choose a file.")
      }
      let app = try visit.app()
      let verification = try Verification(
        app, policy: visit.form["policy"], customer: nil, entitlements)
      let outcome = try await verification.verdict(on: receipt)
      let result = VerdictResult(
        outcome, receipt: receipt, recordsVerdicts: app.configuration.recordsVerdicts,
        canRead: try visit.may(.read) && (visit.login.isForAllApps || outcome.verdict.receipt != nil),
        firstField: visit.form["fields"].flatMap { Int($0) } ?? 0, at: entitlements.clock())
      return try verifyPage(visit, receipt: receipt, result: result)
    }

    private func verifyPage(
      _ visit: ConsoleVisit, receipt: [UInt8], result: VerdictResult?
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
          "receiptText": receiptText, "result": result,
        ])
    }
  }

  /// A verdict as displayed, with the contents of the receipt.
  private struct VerdictResult {
    let verdict: VerdictView
    let chips: [ChipView]
    let verdictFacts: [FactView]
    let sections: [[String: Any]]
    let chains: [ChainPicture]
    let fieldTable: TableView?
    /// The form's buttons for other pages of fields.
    let fieldPages: [[String: Any]]
    let unreadable: String?

    /// The maximum number of fields on a page.
    ///
    /// Each field costs about as much as a verification request, and a receipt can have hundreds of thousands.
    private static let maximumFieldCount = 200
    /// The maximum number of facts in a section, of sections, and of chains.
    private static let maximumSummaryCount = 50

    init(
      _ outcome: Verification.Outcome, receipt: [UInt8], recordsVerdicts: Bool, canRead: Bool,
      firstField: Int, at now: Timestamp
    ) {
      let (verdict, acknowledgement) = outcome
      let view = VerdictView(verdict, at: now)
      chips = ChipView.list(verdict, at: now)
      self.verdict = view
      let reason = verdict.reason
      let entry = acknowledgement.map {
        $0.isRepeat
          ? "\($0.index), which was there before: the same receipt under the same policy" : "\($0.index)"
      }
      verdictFacts =
        [
          FactView("Reason", reason.map { "\($0.message)" }),
          FactView("Where", reason.flatMap { $0.place.isEmpty ? nil : $0.place }),
          FactView("Code", reason?.code.rawValue),
          FactView("What to do", view.consequence),
          FactView("Kind", verdict.kind?.rawValue),
          FactView(
            "Audit trail",
            recordsVerdicts ? entry.map { "entry \($0)" } : "Verdicts of this app are not recorded.",
            link: canRead ? acknowledgement.map { ConsoleURL.entry($0.index) } : nil),
        ].compactMap { $0 }
        + RecordedCheck.list(verdict.checks).compactMap { FactView("Asked \($0.name)", $0.answer.rawValue) }
      do throws(MalformedReceipt) {
        let inspection = try Inspection(of: receipt)
        let summary = inspection.summary(at: now)
        sections = summary.sections.prefix(Self.maximumSummaryCount).map { section in
          [
            "sectionTitle": section.title ?? "What it says",
            "facts": section.fields.prefix(Self.maximumSummaryCount).reduce(into: [FactView]()) {
              facts, field in
              // A field without a name continues the previous field.
              if field.name.isEmpty, let last = facts.popLast() {
                facts += [FactView(last.term, "\(last.fact); \(field.value)")].compactMap { $0 }
              } else {
                facts += [FactView(field.name, field.value)].compactMap { $0 }
              }
            },
          ]
        }
        chains = summary.signers.lazy.filter { !$0.isRepeated }.prefix(Self.maximumSummaryCount).map {
          ChainPicture($0)
        }
        let fields = inspection.fields
        let count = Self.count(fields)
        let limit = Self.maximumFieldCount
        let start = min(max(0, firstField), max(0, (count - 1) / limit * limit))
        let end = min(start + limit, count)
        var rows = FieldRows(range: start..<end)
        rows.append(fields, depth: 0)
        fieldTable = TableView(
          count <= limit ? "Every field" : "Fields \(start + 1) to \(end) of \(count)",
          ["Field", "Value", "Meaning"], rows.rows)
        let pages = [(start - limit, "Show the fields before"), (end, "Show further fields")]
        fieldPages = pages.filter { 0..<count ~= $0.0 }.map {
          ["fieldStart": $0.0, "fieldPageText": $0.1]
        }
        unreadable = nil
      } catch {
        (sections, chains, fieldTable, fieldPages) = ([], [], nil, [])
        unreadable = "\(error)"
      }
    }

    private static func count(_ fields: [InspectedField]) -> Int {
      fields.reduce(0) { count, field in
        switch field.content {
        case .object(let members), .array(let members): count + 1 + Self.count(members)
        case .value, .attribute: count + 1
        }
      }
    }
  }

  /// The table rows for a range of a receipt's fields; nested ones follow the field that contains them.
  private struct FieldRows {
    let range: Range<Int>
    var rows: [[CellView]] = []
    var index = 0

    mutating func append(_ fields: [InspectedField], depth: Int) {
      for field in fields {
        guard index < range.upperBound else { return }
        if range.contains(index) { rows.append(Self.row(field, depth: depth)) }
        index += 1
        switch field.content {
        case .object(let members), .array(let members): append(members, depth: depth + 1)
        case .value, .attribute: break
        }
      }
    }

    private static func row(_ field: InspectedField, depth: Int) -> [CellView] {
      let name = CellView(field.name, style: "depth-\(min(depth, 6))")
      let meaning = CellView(field.meanings.joined(separator: "; "), style: "meaning")
      switch field.content {
      case .value(let value): return [name, CellView(value), meaning]
      case .object, .array: return [name, CellView(""), meaning]
      case .attribute(let parts):
        // Attributes are array elements with a name of their own, and a number or object identifier as their type.
        func part(_ name: String) -> String? { parts.first { $0.name == name }?.value }
        let named = part("name").flatMap { $0 == "unknown" ? nil : $0 }
        let type = part("type").map { "type \($0)" }
        let others = parts.filter { !["name", "type", "value"].contains($0.name) }.map {
          "\($0.name) \($0.value)"
        }
        return [
          CellView(named ?? type ?? field.name, style: name.style),
          CellView(([part("value")].compactMap { $0 } + others).joined(separator: ", ")),
          CellView(
            (named == nil ? ["unknown"] : [type].compactMap { $0 } + field.meanings).joined(separator: "; "),
            style: "meaning"),
        ]
      }
    }
  }
#endif
