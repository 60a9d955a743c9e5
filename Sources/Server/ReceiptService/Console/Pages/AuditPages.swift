// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import TransparencyLog

  /// The pages of the audit trail: its state, its entries and their proofs.
  struct AuditPages {
    let auditLog: AuditLog?

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/audit", .scope(.read), respond: auditPage),
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

    private func auditPage(_ visit: ConsoleVisit) async throws -> Response {
      let log = try auditLog.served
      let audience = try visit.audience()
      let (size, checkpoint, entries) = try await log.read { view in
        var search = EntrySearch()
        search.limit = 20
        let page = try search.page(in: view) { audience.includes($0) }
        return (view.size, view.checkpoint, page.entries)
      }
      let health = log.health
      let facts = [
        FactView("Origin", log.configuration.origin),
        FactView("Entries", "\(size)"),
        FactView("In the checkpoint", checkpoint.map { "\($0.checkpoint.size)" } ?? "none yet"),
        FactView("Root", checkpoint?.checkpoint.root.description),
        FactView("Public key", log.keys.current.text),
        FactView("Cosignatures", checkpoint.map { "\($0.cosignatures.count)" }),
        FactView(
          "Health", health.isHealthy ? "✓ healthy" : "✗ not healthy; the log of the server says why",
          style: health.isHealthy ? "good" : "bad"),
      ]
      return visit.page(
        "audit", title: "Audit trail",
        [
          "facts": facts.compactMap { $0 },
          "checkpoint": checkpoint.map { String(decoding: $0.signed.encoded, as: UTF8.self) },
          "table": EntryTable.view("The newest entries", entries, app: try visit.chosenApp()?.name),
        ])
    }

    private func entryPage(_ visit: ConsoleVisit) async throws -> Response {
      let index = try visit.context.indexParameter("index")
      let audience = try visit.audience()
      let (columns, recorded) = try await auditLog.served.read { view in
        let recorded = try view.entry(at: index, visibleTo: audience)
        let report = try EntryReport(recorded, in: view, showsCustomer: true)
        let columns = report.columns.compactMap { name, value -> (String, String)? in
          switch value {
          case .text(let text)?: (name, text)
          case .number(let number)?: (name, "\(number)")
          case .checks(let checks)?:
            (name, checks.map { "\($0.name): \($0.answer.rawValue)" }.joined(separator: "; "))
          case nil: nil
          }
        }
        return (columns + (report.customer.map { [("customer", $0)] } ?? []), recorded)
      }
      let original = recorded.entry.original
      let owner = visit.apps.first { $0.isAbout(recorded.entry) }
      return visit.page(
        "entry", title: "Entry \(index)",
        [
          "facts": columns.compactMap { name, value in
            name == "verdict"
              ? FactView(name, "\(VerdictView(value).symbol) \(value)", style: VerdictView(value).style)
              : FactView(name, value, link: name == "previous" ? "/console/audit/entries/\(value)" : nil)
          }, "raw": String(decoding: recorded.bytes, as: UTF8.self),
          "proofPage": ConsoleURL.entry(index) + "/proof",
          "historyLink": original.map {
            ConsoleURL.make("/console/transactions", [("original", $0), ("app", owner?.name)])
          },
          "entitlementLink": original.flatMap { original in
            owner.map { ConsoleURL.entitlement(original, app: $0.name) }
          },
        ])
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
