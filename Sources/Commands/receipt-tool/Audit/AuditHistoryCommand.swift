// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptBytes
import TransparencyLog

extension AuditHistoryCommand {
  func validate() throws {
    guard (original == nil) != (customer == nil) else {
      throw ValidationError("Name an original transaction, or a customer by --customer.")
    }
    guard proofs == nil || customer == nil else {
      throw ValidationError("--proofs is of an original transaction.")
    }
    try scope.validate(isByPurchase: original != nil, "needs an original transaction")
    // An anchor confirms the number of entries with the identifier, regardless of their app.
    try refuse(
      ["--proofs": proofs != nil], unless: scope.scope == nil,
      "is of all entries; leave out --bundle-id and --environment")
    guard limit ?? 1 > 0 else { throw ValidationError("--limit takes a positive number.") }
    guard proofs == nil || limit == nil else {
      throw ValidationError("--proofs is of all entries; leave out --limit.")
    }
  }

  func run() async throws {
    if let proofs, let original {
      try await options.write { log in try await prove(original, in: log, to: proofs) }
    } else {
      let lines = try options.read { view in
        let entries = try entries(view)
        view.warnOfUncheckpointed(entries.lazy.map(\.index))
        return try entries.map { try line($0, view) }
      }
      try show(lines)
    }
  }

  private func entries(_ view: TrailView) throws -> [RecordedEntry] {
    if let original { return try view.history(original: original, in: scope.scope, limit: limit ?? .max) }
    let token = RecordingOptions.canonicalCustomer(customer ?? "")
    return try view.entries(customer: token, limit: limit ?? .max)
  }

  private func prove(_ original: String, in log: AuditLog, to folder: String) async throws {
    let hasEntries = try log.withView { try !$0.history(original: original, limit: 1).isEmpty }
    guard hasEntries else { return try show([]) }
    let anchor = try await log.anchor(original: original)
    try log.publishCheckpoint()
    try NewFile.makeFolder(folder)
    let lines = try log.withView { view in
      try view.history(original: original, before: anchor.index + 1).map { recorded in
        let proof = try view.proof(of: recorded.index).encoded
        try NewFile.write(proof, to: "\(folder)/\(recorded.index).tlog-proof", overwriting: true)
        return try line(recorded, view)
      }
    }
    try show(lines)
    note("receipt-tool: wrote \(lines.count) proofs to \(folder)")
  }

  private func line(_ recorded: RecordedEntry, _ view: TrailView) throws -> [UInt8] {
    let report = try EntryReport(recorded, in: view)
    return output.chosen(report.jsonLine(), report.summary())
  }

  private func show(_ lines: [[UInt8]]) throws {
    for line in lines { try writeAll(line) }
    if lines.isEmpty {
      let name = original.map { "original transaction \(ShownText.plain($0))" } ?? "this customer"
      throw ToolExit.failure(.invalid, "nothing is recorded of \(name)", code: "notFound")
    }
  }
}
