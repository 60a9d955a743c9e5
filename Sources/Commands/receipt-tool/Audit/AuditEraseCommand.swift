// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput

extension AuditEraseCommand {
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
