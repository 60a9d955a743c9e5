// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import TransparencyLog

  /// The pages of an audit entry, and of the proof that it is in the trail.
  struct EntryPages {
    let auditLog: AuditLog?
    let entitlements: ServiceEntitlements

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/audit/entries/{index}", .scope(.read), respond: entryPage),
        ConsoleRoute(.get, "/console/audit/entries/{index}/proof", .scope(.read), respond: proofPage),
        ConsoleRoute(.get, "/console/audit/entries/{index}/tlog-proof", .scope(.read)) { visit in
          let (index, _, _, proof) = try await proof(visit)
          return Response(
            status: .ok,
            headers: [
              .contentType: "application/octet-stream",
              .contentDisposition: "attachment; filename=\"entry-\(index).tlog-proof\"",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: proof.encoded)))
        },
      ]
    }

    private func entryPage(_ visit: ConsoleVisit) async throws -> Response {
      let index = try visit.context.indexParameter("index")
      let audience = try visit.audience()
      let (report, recorded, checkpoint) = try await auditLog.served.read { view in
        let recorded = try view.entry(at: index, visibleTo: audience)
        return (
          try EntryReport(recorded, in: view, showsCustomer: true), recorded,
          view.checkpoint?.checkpoint.size ?? 0
        )
      }
      let entry = recorded.entry
      let columns = report.columns.compactMap { name, value -> (String, String)? in
        switch value {
        case .text(let text)?: (name, text)
        case .number(let number)?: (name, "\(number)")
        case .checks(let checks)?:
          (name, checks.map { "\($0.name): \($0.answer.rawValue)" }.joined(separator: "; "))
        case nil: nil
        }
      }
      let owner = visit.apps.first { $0.isAbout(entry) }
      // An entry names the original transaction, also of purchases that are in no ledger.
      let isKnown =
        if let original = entry.original, let owner {
          try await !entitlements.entitlements(app: owner.name, identifier: original).isEmpty
        } else { false }
      let verdict = entry.verdict.map { VerdictView($0.rawValue) }
      return visit.page(
        "entry", title: "Entry \(index)",
        [
          "entryStyle": verdict?.style ?? "",
          "entryChips": [
            verdict.map { ChipView("\($0.symbol) \($0.word)", style: $0.style) },
            entry.reason.map { ChipView($0, style: "bad") },
            entry.environment.flatMap { $0 == "Production" ? nil : ChipView($0, style: "doubtful") },
          ].compactMap(\.self),
          "sentence": Self.sentence(entry),
          "step": report.erasable == .erased
            ? "The receipt and the customer were erased. The entry itself stays, and is still proved." : nil,
          "facts": [
            FactView("Recorded", time: Timestamp(milliseconds: entry.time)),
            FactView("Product", entry.product),
            FactView(
              "Customer", identifier: report.customer,
              link: report.customer.flatMap { customer in
                owner.map { ConsoleURL.customer(customer, app: $0.name) }
              }),
            FactView(
              "Transaction", identifier: entry.transaction,
              link: entry.transaction.flatMap { ConsoleURL.transaction($0) }),
            FactView(
              "Original transaction", identifier: entry.original,
              link: entry.original.flatMap { original in
                isKnown ? owner.map { ConsoleURL.entitlement(original, app: $0.name) } : nil
              }),
            FactView("Expires", time: entry.expires.map { Timestamp(milliseconds: $0) }),
            FactView("Taken back", time: entry.revoked.map { Timestamp(milliseconds: $0) }),
            FactView(
              "Before it", entry.previous.map { "entry \($0) about the same purchase" },
              link: entry.previous.map { ConsoleURL.entry($0) }),
            FactView(
              "Erases", entry.erased.map { "entry \($0)" }, link: entry.erased.map { ConsoleURL.entry($0) }),
            FactView(
              "Proof",
              index < checkpoint
                ? "show that it is in the trail" : "within seconds, when the next checkpoint is published",
              link: index < checkpoint ? ConsoleURL.entry(index) + "/proof" : nil),
          ].compactMap(\.self),
          "historyLink": entry.original.map {
            ConsoleURL.make("/console/transactions", [("original", $0), ("app", owner?.name)])
          },
          "fields": [
            "facts": columns.compactMap { FactView($0.0, $0.1) }
              + [FactView("customer", report.customer)].compactMap(\.self)
          ],
          "raw": String(decoding: recorded.bytes, as: UTF8.self),
        ])
    }

    /// What an entry records.
    private static func sentence(_ entry: AuditEntry) -> String {
      let kind =
        entry.format.flatMap { ReceiptKind(rawValue: $0)?.spokenName } ?? entry.format
        ?? "receipt that is not genuine"
      switch entry.kind {
      case .verdict:
        if let type = entry.notification {
          let name = PurchaseHistory.name(NotificationType(rawValue: type), entry.subtype)
          return "The App Store's notification “\(name)”, and the verdict on it."
        }
        return "The verdict on a \(kind)."
      case .purchase:
        return "One line of purchases of an app receipt, whose verdict is an entry before this one."
      case .erasure: return "The erasure of an earlier entry's receipt and customer."
      case .anchor: return "A statement of the newest entry of a purchase, and of the number of its entries."
      case .key: return "Another key took over the trail."
      default: return "An entry of the kind \(entry.kind.rawValue)."
      }
    }

    private func proof(
      _ visit: ConsoleVisit
    ) async throws -> (index: UInt64, recorded: RecordedEntry, checkpoint: Checkpoint, proof: LogProof) {
      let index = try visit.context.indexParameter("index")
      let audience = try visit.audience()
      return try await auditLog.served.read { view in
        let (recorded, checkpoint, proof) = try view.proof(of: index, visibleTo: audience)
        return (index, recorded, checkpoint, proof)
      }
    }

    private func proofPage(_ visit: ConsoleVisit) async throws -> Response {
      let (index, recorded, checkpoint, proof) = try await proof(visit)
      let key = try auditLog.served.keys.current.text
      return visit.page(
        "proof", title: "Proof of entry \(index)",
        [
          "entry": String(decoding: recorded.bytes, as: UTF8.self), "entryLink": ConsoleURL.entry(index),
          "entryBase64": Base64.encodeToString(recorded.bytes),
          "proof": String(decoding: proof.encoded, as: UTF8.self),
          "key": key,
          "facts": [
            FactView("Index", "\(index)"), FactView("Size of the tree", "\(checkpoint.size)"),
            FactView("Root", checkpoint.root.description), FactView("Public key", key),
          ].compactMap { $0 }, "downloadLink": ConsoleURL.entry(index) + "/tlog-proof",
          "command": "receipt-tool audit check entry-\(index).tlog-proof --key '\(key)'",
        ])
    }
  }
#endif
