// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

#if Server
  internal import AuditTrail
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import TransparencyLog

  extension ReceiptAPI {
    var auditPages: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/audit", .scope(.read)) { [unowned self] in try await auditPage($0) },
        ConsoleRoute(.get, "/console/audit/entries/{index}", .scope(.read)) { [unowned self] visit in
          try await entryPage(visit)
        },
        ConsoleRoute(.get, "/console/audit/entries/{index}/proof", .scope(.read)) { [unowned self] visit in
          try await proofPage(visit)
        },
        ConsoleRoute(.get, "/console/audit/entries/{index}/tlog-proof", .scope(.read)) {
          [unowned self] visit in
          let (index, proof) = try await proof(visit)
          return Response(
            status: .ok,
            headers: [
              .contentType: "application/octet-stream",
              .contentDisposition: "attachment; filename=\"entry-\(index).tlog-proof\"",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: proof.proof)))
        },
      ]
    }

    private func auditPage(_ visit: ConsoleVisit) async throws -> Response {
      struct Audit {
        let facts: [FactView]
        let checkpoint: String?
        let table: TableView
      }
      let log = try log()
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
        Audit(
          facts: facts.compactMap { $0 },
          checkpoint: checkpoint.map { String(decoding: $0.signed.encoded, as: UTF8.self) },
          table: EntryTable.view("The newest entries", entries, app: try visit.chosenApp()?.name)))
    }

    private func entryPage(_ visit: ConsoleVisit) async throws -> Response {
      struct Entry {
        let facts: [FactView]
        let raw: String
        let proofPage: String
        let historyLink: String?
        let entitlementLink: String?
      }
      let index = try entryIndex(visit.context)
      let audience = try visit.audience()
      let (columns, recorded) = try await log().read { view in
        let recorded = try Self.visible(view, index, audience)
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
        Entry(
          facts: columns.compactMap { name, value in
            name == "verdict"
              ? FactView(name, "\(VerdictView(value).symbol) \(value)", style: VerdictView(value).style)
              : FactView(name, value, link: name == "previous" ? "/console/audit/entries/\(value)" : nil)
          }, raw: String(decoding: recorded.bytes, as: UTF8.self),
          proofPage: ConsoleURL.entry(index) + "/proof",
          historyLink: original.map {
            ConsoleURL.make("/console/transactions", [("original", $0), ("app", owner?.name)])
          },
          entitlementLink: original.flatMap { original in
            owner.map { ConsoleURL.entitlement(original, app: $0.name) }
          }))
    }

    private struct EntryProof: Sendable {
      let entry: [UInt8]
      let proof: [UInt8]
      let size: UInt64
      let root: String
    }

    private func proof(_ visit: ConsoleVisit) async throws -> (UInt64, EntryProof) {
      let index = try entryIndex(visit.context)
      let audience = try visit.audience()
      let proof = try await log().read { view in
        let recorded = try Self.visible(view, index, audience)
        guard let checkpoint = view.checkpoint?.checkpoint, index < checkpoint.size else {
          throw Problem(
            .serviceUnavailable, "not-yet-published",
            "No checkpoint covers the entry yet; one is published within seconds.", retryAfter: 1)
        }
        return EntryProof(
          entry: recorded.bytes, proof: try view.proof(of: index).encoded, size: checkpoint.size,
          root: checkpoint.root.description)
      }
      return (index, proof)
    }

    private func proofPage(_ visit: ConsoleVisit) async throws -> Response {
      struct Proof {
        let entry: String
        let entryLink: String
        /// The exact bytes in base64, because invisible characters are replaced in the displayed text.
        let entryBase64: String
        let proof: String
        let key: String
        let facts: [FactView]
        let downloadLink: String
        let command: String
      }
      let (index, proof) = try await proof(visit)
      let key = try log().keys.current.text
      return visit.page(
        "proof", title: "Proof of entry \(index)",
        Proof(
          entry: String(decoding: proof.entry, as: UTF8.self), entryLink: ConsoleURL.entry(index),
          entryBase64: Base64.encodeToString(proof.entry),
          proof: String(decoding: proof.proof, as: UTF8.self),
          key: key,
          facts: [
            FactView("Index", "\(index)"), FactView("Size of the tree", "\(proof.size)"),
            FactView("Root", proof.root), FactView("Public key", key),
          ].compactMap { $0 }, downloadLink: ConsoleURL.entry(index) + "/tlog-proof",
          command: "receipt-tool audit check entry-\(index).tlog-proof --key '\(key)'"))
    }
  }
#endif
