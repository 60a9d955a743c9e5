// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec

/// `receipt-tool audit erase`.
struct AuditEraseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Erase the receipt and the customer of entries, for good; every proof stays valid.",
    discussion: """
      The entries themselves stay: they name neither the customer nor hold the receipt. That they were erased, and when,
      is entered. Copies of the trail, such as backups, are yours to erase.

      EXAMPLES:
        receipt-tool audit erase verdicts.audit 17 18
        receipt-tool audit erase verdicts.audit --customer 7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f

      EXIT CODES:
        0 erased; 1 there is no such entry, or nothing to erase; 64 wrong command line; 66 the trail or key
        cannot be used; 74 it could not be stored, or the output not written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Argument(help: ArgumentHelp("Indexes; the first entry is 0.", valueName: "index"))
  var indexes: [UInt64] = []

  @Option(help: ArgumentHelp("Erase all entries of this customer.", valueName: "TOKEN"))
  var customer: String?

  func validate() throws {
    guard indexes.isEmpty != (customer == nil) else {
      throw ValidationError("Name entries by their indexes, or a customer by --customer.")
    }
  }

  func run() async throws {
    try await options.write { log in
      var indexes = indexes
      if let customer {
        let token = RecordingOptions.canonicalCustomer(customer)
        indexes = try log.withView { try $0.entries(customer: token).map(\.index).reversed() }
        guard !indexes.isEmpty else {
          throw ToolExit.failure(ToolExit.invalid, "nothing is recorded of this customer")
        }
      }
      for index in indexes { try report(index, log.erase(entry: index).index) }
    }
  }

  private func report(_ index: UInt64, _ erasure: UInt64) throws {
    if output.json {
      var object = JSONWriter()
      object.beginObject()
      object.member("erased", index)
      object.member("index", erasure)
      object.endObject()
      try writeLine(object)
    } else {
      try writeAll("erased entry \(index); entry \(erasure) says so\n")
    }
  }
}
