// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec

extension AuditFindCommand {
  func validate() throws {
    let criteria: [String?] = [
      id, transaction, original, receipt, receiptFile, product, customer, from ?? to,
    ]
    guard criteria.compactMap({ $0 }).count == 1 else {
      throw ValidationError(
        "Give one of --id, --transaction, --original, --receipt, --receipt-file, --product, --customer, or --from and --to."
      )
    }
    let isByTime = from != nil || to != nil
    try refuse(["--after": after != nil], unless: isByTime, "needs --from or --to")
    try refuse(
      ["--before": before != nil], unless: !isByTime, "has no effect with --from or --to: use --after")
    try scope.validate(isByPurchase: transaction ?? original != nil, "needs --transaction or --original")
    guard limit > 0 else { throw ValidationError("--limit takes a positive number.") }
    guard receipt.map({ RecordInput.digest($0) != nil }) ?? true else {
      throw ValidationError("--receipt takes SHA-256 in 64 hexadecimal digits or in base64.")
    }
  }

  /// The number of entries that are read together.
  private static let pageCount = 256

  func run() throws {
    let search = try search()
    let found = try options.read { view in
      let found = try search(view)
      view.warnOfUncheckpointed(found.lazy.map(\.index))
      return try found.enumerated().map { position, recorded in
        if position.isMultiple(of: Self.pageCount) {
          try view.prefetch(found[position...].prefix(Self.pageCount).map(\.index))
        }
        let report = try EntryReport(recorded, in: view)
        return output.chosen(report.jsonLine(), report.text())
      }
    }
    for bytes in found { try writeAll(bytes) }
    if found.isEmpty { throw ToolExit.failure(.invalid, "nothing found", code: "notFound") }
  }

  private func search() throws -> (TrailView) throws -> [RecordedEntry] {
    let (before, limit, scope) = (before ?? .max, limit, scope.scope)
    if let id { return { try $0.entries(id: id, before: before, limit: limit) } }
    if let transaction {
      return { try $0.entries(transaction: transaction, in: scope, before: before, limit: limit) }
    }
    if let original {
      return { try $0.history(original: original, in: scope, before: before, limit: limit) }
    }
    if let product { return { try $0.entries(product: product, before: before, limit: limit) } }
    if let customer {
      let token = RecordingOptions.canonicalCustomer(customer)
      return { try $0.entries(customer: token, before: before, limit: limit) }
    }
    if let digest = receipt.flatMap(RecordInput.digest) {
      return { try $0.entries(receipt: digest, before: before, limit: limit) }
    }
    if let receiptFile {
      let digests = ReceiptDigests(of: ReceiptInputText.stripped(try InputFile.contents(of: receiptFile)))
      return { try $0.entries(receipt: digests, before: before, limit: limit) }
    }
    let start = try from.map { try Self.milliseconds($0, "--from") } ?? 0
    let end = try to.map { try Self.milliseconds($0, "--to") } ?? .max
    guard start <= end else { throw ValidationError("--from is later than --to.") }
    return { [after] in try $0.entries(time: start...end, from: after ?? 0, limit: limit) }
  }

  private static func milliseconds(_ text: String, _ option: String) throws -> Int64 {
    Int64(try parseInstant(text, option).millisecondsSince1970.rounded(.down))
  }
}
