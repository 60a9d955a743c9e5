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
        ConsoleRoute(.get, "/console/audit", .scope(.read), respond: auditPage)
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
  }
#endif
