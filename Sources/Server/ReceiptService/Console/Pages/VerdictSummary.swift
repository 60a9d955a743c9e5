// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptInspection
  internal import ReceiptVerification

  /// The verdict on a receipt in words: three findings, what it says, and what to do next.
  struct VerdictSummary {
    let verdict: VerdictView
    /// A class of the style sheet, which is that of a valid verdict only if something is granted.
    let summaryStyle: String
    /// The standing after the verdict, if the receipt is valid and grants nothing now.
    let qualification: String?
    /// Whether it is genuine, whether it stands, and whether it grants access.
    let findings: [ChipView]
    let lead: String
    let nextStep: String
    let reasonFacts: [FactView]

    /// Creates the summary of a verdict under the app's policy, and of the same after the ledger was asked.
    init(_ verdict: Verdict, consulted: Verdict, app: String, at now: Timestamp) {
      self.verdict = VerdictView(verdict.word)
      let receipt = consulted.signatureVerified
      let standing = receipt?.standing(at: now)
      let isGranted = standing?.grantsAccess ?? false
      summaryStyle = verdict.receipt != nil && !isGranted ? "doubtful" : self.verdict.style
      qualification =
        verdict.receipt == nil || isGranted
        ? nil : standing.map { ", but \($0.status.rawValue)" } ?? ", without a purchase"
      findings = [
        Self.genuine(verdict), Self.stands(receipt, standing), Self.grants(verdict, standing),
      ]
      lead = Self.lead(verdict, receipt, standing, app: app, at: now)
      nextStep = verdict.nextStep(standing)
      let reason = verdict.reason
      reasonFacts =
        [
          FactView("Code", reason?.code.rawValue),
          FactView("Where", reason.flatMap { $0.place.isEmpty ? nil : $0.place }),
        ].compactMap(\.self)
        + RecordedCheck.list(verdict.checks).compactMap { FactView("Asked \($0.name)", $0.answer.rawValue) }
    }

    private static func genuine(_ verdict: Verdict) -> ChipView {
      if verdict.signatureVerified != nil { return ChipView("✓ yes", style: "good", of: "Genuine") }
      switch verdict {
      case .valid: return ChipView("✓ yes", style: "good", of: "Genuine")
      case .invalid(let receipt):
        switch receipt.reason.code {
        // The policy evaluates these after the signature, and the validity of its certificates, in time.
        case .wrongBundle, .wrongApp, .wrongEnvironment, .wrongDevice, .notCurrent, .revoked, .checkerRefused:
          return ChipView("✓ yes, but not accepted", style: "doubtful", of: "Genuine")
        // These come before the certificates' validity.
        case .wrongKind, .tooOld, .signedInFuture:
          return ChipView("? signed, and not accepted", style: "doubtful", of: "Genuine")
        default: return ChipView("✗ no", style: "bad", of: "Genuine")
        }
      case .undetermined: return ChipView("? not checked", style: "doubtful", of: "Genuine")
      }
    }

    private static func stands(_ receipt: VerifiedReceipt?, _ standing: PurchaseStanding?) -> ChipView {
      guard receipt != nil else { return ChipView("? not known", of: "Stands") }
      guard let standing else { return ChipView("no purchase in it", of: "Stands") }
      let since = standing.since.map { " since \(ShownTime.day($0))" } ?? ""
      switch standing.status {
      case .active:
        return ChipView(
          "✓ active" + (standing.until.map { " until \(ShownTime.day($0))" } ?? ""), style: "good",
          of: "Stands")
      case .unknown, .pending:
        return ChipView("? \(standing.status.rawValue)", style: "doubtful", of: "Stands")
      default: return ChipView("✗ \(standing.status.rawValue)\(since)", style: "bad", of: "Stands")
      }
    }

    private static func grants(_ verdict: Verdict, _ standing: PurchaseStanding?) -> ChipView {
      switch (verdict, standing) {
      case (.valid, let standing?) where standing.grantsAccess:
        ChipView("✓ yes", style: "good", of: "Grants access")
      case (.undetermined, _): ChipView("? not before it is checked", style: "doubtful", of: "Grants access")
      default: ChipView("✗ no", style: "bad", of: "Grants access")
      }
    }

    private static func lead(
      _ verdict: Verdict, _ receipt: VerifiedReceipt?, _ standing: PurchaseStanding?, app: String,
      at now: Timestamp
    ) -> String {
      var sentences: [String] = []
      if let reason = verdict.reason { sentences.append(reason.message) }
      // The receipt states what it knew when it was signed.
      let own = verdict.signatureVerified?.standing(at: now)
      let isNews = standing?.source == .ledger && own?.source != .ledger && own?.status != standing?.status
      if let receipt {
        if verdict.reason == nil { sentences.append("A genuine \(receipt.kind.spokenName), for \(app).") }
        let products = Set(receipt.purchases.compactMap(\.productId))
        let product =
          products.count == 1
          ? ShownText.brief(products.first ?? "")
          : products.isEmpty ? "the purchase" : "\(products.count) products"
        if let standing {
          sentences.append(
            standing.status.sentence(
              about: products.count > 1 ? "Of \(product), what stands the longest" : product,
              since: standing.since.map { " on \(ShownTime.full($0))" } ?? "",
              until: standing.until.map { " until \(ShownTime.full($0))" } ?? "")
              + (isNews ? " The store said so after the receipt was signed." : ""))
        } else if verdict.reason == nil {
          sentences.append("It states no purchase.")
        }
        if let environment = receipt.environment, environment.category != .production {
          sentences.append("It is from \(environment.plainName), where purchases cost nothing.")
        }
      }
      return sentences.map(Self.asSentence).joined(separator: " ")
    }

    private static func asSentence(_ text: String) -> String {
      guard let first = text.first else { return text }
      // A product keeps its spelling.
      return first.isLowercase && !text.prefix(40).contains(".")
        ? first.uppercased() + text.dropFirst() : text
    }
  }

  /// The contents of a receipt, most of which pages fold.
  struct ReceiptContents {
    /// What a receipt says whose signature is valid.
    let statedFacts: [FactView]
    let hasStated: Bool
    /// What the bytes of another receipt claim; nothing of it was verified.
    let claims: [[String: Any]]
    let purchaseTable: TableView?
    /// The purchases after the first ones.
    let otherPurchases: TableView?
    let sections: [[String: Any]]
    let hasSections: Bool
    let chains: [ChainPicture]
    let fieldTable: TableView?
    let fieldCount: Int
    /// The form's buttons for other pages of fields.
    let fieldPages: [[String: Any]]
    let unreadable: String?

    /// The maximum number of fields on a page.
    ///
    /// Each field costs about as much as a verification request, and a receipt can have hundreds of thousands.
    private static let maximumFieldCount = 200
    /// The maximum number of facts in a section, of sections, and of chains.
    private static let maximumSummaryCount = 50
    /// The number of purchases that are shown before anything folded, and the maximum number of the others.
    private static let (firstPurchaseCount, maximumPurchaseCount) = (4, 100)
    /// The maximum number of claims that are shown before anything folded.
    private static let maximumClaimCount = 12

    init(_ receipt: [UInt8], _ consulted: Verdict, app: String, firstField: Int, at now: Timestamp) {
      let verified = consulted.signatureVerified
      statedFacts = verified.map { Self.facts(of: $0, at: now) } ?? []
      hasStated = !statedFacts.isEmpty
      let purchases = verified?.purchases ?? []
      let firstCount =
        purchases.count > Self.firstPurchaseCount + 1 ? Self.firstPurchaseCount : purchases.count
      purchaseTable =
        purchases.count < 2 ? nil : Self.table("Purchases in it", of: purchases.prefix(firstCount), at: now)
      let others = purchases.dropFirst(firstCount).prefix(Self.maximumPurchaseCount)
      otherPurchases =
        others.isEmpty
        ? nil
        : Self.table(
          "Purchases \(firstCount + 1) to \(firstCount + others.count) of \(purchases.count)", of: others,
          at: now)
      do throws(MalformedReceipt) {
        let inspection = try Inspection(of: receipt)
        let summary = inspection.summary(at: now)
        sections = Self.sections(of: summary)
        claims = verified == nil ? sections.prefix(1).map { Self.cut($0) } : []
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
        fieldCount = count
        fieldTable = TableView(
          count <= limit ? "Every field" : "Fields \(start + 1) to \(end) of \(count)",
          ["Field", "Value", "Meaning"], rows.rows)
        let pages = [(start - limit, "Show the fields before"), (end, "Show further fields")]
        fieldPages = pages.filter { 0..<count ~= $0.0 }.map {
          ["fieldStart": $0.0, "fieldPageText": $0.1]
        }
        unreadable = nil
      } catch {
        (sections, claims, chains, fieldTable, fieldPages, fieldCount) = ([], [], [], nil, [], 0)
        unreadable = "\(error)"
      }
      hasSections = !sections.isEmpty
    }

    private static func facts(of receipt: VerifiedReceipt, at now: Timestamp) -> [FactView] {
      let purchase = receipt.purchases.count == 1 ? receipt.purchases.first : nil
      let quantity = purchase?.quantity.flatMap { $0 == 1 ? nil : " × \($0)" } ?? ""
      return [
        FactView("Product", purchase?.productId.map { ShownText.brief($0, limit: 200) + quantity }),
        FactView("Bought", time: purchase?.purchaseDate),
        FactView("Paid until", time: purchase?.expiresDate),
        FactView("Taken back", time: purchase?.revocationDate),
        FactView("Price", purchase.flatMap { Money.text($0.price, $0.currency) }),
        purchase?.inAppOwnershipType == .familyShared
          ? FactView("Ownership", "shared by a family member") : nil,
        FactView("App", receipt.bundleId.map { ShownText.brief($0, limit: 200) }),
        FactView(
          "Environment",
          receipt.environment.map {
            $0.plainName + (receipt.isEnvironmentProven ? "" : ", claimed and not proven")
          },
          style: receipt.environment?.category == .production && receipt.isEnvironmentProven ? "" : "doubtful"
        ),
        FactView("Signed", time: receipt.signedAt),
      ].compactMap(\.self)
    }

    private static func table(
      _ caption: String, of purchases: some Sequence<Purchase>, at now: Timestamp
    ) -> TableView {
      TableView(
        caption,
        ["Product", "Standing", "Bought", "Until", "Transaction"],
        purchases.map { purchase in
          let standing = purchase.standing(at: now)
          return [
            CellView(purchase.productId.map { ShownText.brief($0) }),
            CellView(chip: standing.status.rawValue, style: standing.grantsAccess ? "good" : "bad"),
            CellView(time: purchase.purchaseDate), CellView(time: standing.until ?? purchase.expiresDate),
            CellView(
              identifier: purchase.transactionId,
              link: purchase.transactionId.flatMap { ConsoleURL.transaction($0) }),
          ]
        })
    }

    private static func sections(of summary: InspectionSummary) -> [[String: Any]] {
      summary.sections.prefix(maximumSummaryCount).map { section in
        [
          "sectionTitle": section.title ?? "The receipt itself",
          "facts": section.fields.prefix(maximumSummaryCount).reduce(into: [FactView]()) { facts, field in
            // A field without a name continues the previous field.
            if field.name.isEmpty, let last = facts.popLast() {
              facts += [FactView(last.term, "\(last.fact); \(field.value)")].compactMap { $0 }
            } else {
              facts += [FactView(field.name, field.value)].compactMap { $0 }
            }
          },
        ]
      }
    }

    private static func cut(_ section: [String: Any]) -> [String: Any] {
      var section = section
      section["facts"] = (section["facts"] as? [FactView] ?? []).prefix(maximumClaimCount).map { fact in
        FactView(fact.term, ShownText.brief(fact.fact, limit: 200)) ?? fact
      }
      return section
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
