// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail

struct AuditEraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Erase the receipt and the customer of entries permanently; every proof stays valid.",
    discussion: """
      The entries themselves stay: they contain neither the customer nor the
      receipt. The erasure is recorded as an entry. An erasable part is encrypted
      under its own key, and erasing destroys that key: copies of the trail that
      hold no keys (see audit backup) need not be erased.

      An entry that was erased before is reported again. If its key came back, as
      with an older copy of the keys (audit fsck names such entries), it is erased
      again. Other entries of the same receipt or customer are listed on standard
      error.

      EXAMPLES:
        receipt-tool audit erase verdicts.audit 17 18
        receipt-tool audit erase verdicts.audit \\
          --customer 7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f
        receipt-tool audit erase verdicts.audit --original 2000000001 \\
          --bundle-id com.example.app

      EXIT CODES:
        0 erased; 1 there is no such entry, or nothing to erase; 64 wrong command
        line; 66 the trail or key cannot be used; 74 it could not be stored, or the
        output not written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var scope: ScopeOptions

  @Argument("Indexes; the first entry is 0.", value: "index") var indexes: [UInt64] = []

  @Option("customer", "Erase all entries of this customer.", value: "TOKEN") var customer: String?

  @Option("original", "Erase all entries of this original transaction.", value: "ID") var original: String?

  func validate() throws {
    let choices = [!indexes.isEmpty, customer != nil, original != nil]
    guard choices.filter({ $0 }).count == 1 else {
      throw ValidationError(
        "Name entries by their indexes, a customer by --customer, or an original transaction by --original.")
    }
    try scope.validate(isByPurchase: original != nil, "needs --original")
  }

  func run() async throws {
    try await options.write { log in
      let indexes = try await log.read { [self] view in try entries(view) }
      guard !indexes.isEmpty else {
        throw ToolExit.failure(.invalid, "nothing is recorded of this, or nothing that could be erased")
      }
      // Look this up first: it is lost after the erasure.
      let others = try await log.read { try $0.entriesToErase(sharingPartsWith: indexes) }
      let progress = Progress("erased")
      let erasures: [AuditAcknowledgement]
      do {
        erasures = try await log.erase(entries: indexes) {
          progress.show(UInt64($0), of: UInt64(indexes.count))
        }
        progress.finish()
      } catch {
        progress.clear()
        throw error
      }
      for (index, erasure) in zip(indexes, erasures) {
        try output.write(
          Output.AuditErasure(erased: index, index: erasure.index, repeated: erasure.isRepeat),
          (erasure.isRepeat ? "entry \(index) was erased before" : "erased entry \(index)")
            + "; entry \(erasure.index) says so")
      }
      if !others.isEmpty {
        let names = others.prefix(20).map(String.init).joined(separator: " ")
        note(
          "receipt-tool: the same receipt or customer is in \(others.count) more: \(names)"
            + (others.count > 20 ? " …" : ""))
      }
    }
  }

  private func entries(_ view: TrailView) throws -> [UInt64] {
    if let customer {
      let token = RecordingOptions.canonicalCustomer(customer)
      return try view.entriesToErase(customer: token)
    }
    guard let original else { return indexes }
    // An anchor, or a record without receipt and customer, has no erasable part.
    return try view.history(original: original, in: scope.scope).filter { $0.entry.commitment != nil }
      .map(\.index).reversed()
  }

}
