// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Storefront

struct StoreBuyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "buy", abstract: "Add a payment to the customer's queue and have the store process it.",
    discussion: """
      The transaction stays in the queue until it is finished: receipt-tool store
      finish. A payment that waits for an approval is not lost either: receipt-tool
      store approve.

      EXAMPLES:
        receipt-tool store buy --store shop com.example.pro -o pro.jws
        receipt-tool store buy --store shop com.example.coins --quantity 3 --json
        receipt-tool store buy --store shop com.example.plan.monthly \\
          --account alice --username 7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f

      EXIT CODES:
        0 sold; 1 refused or failed; 2 waiting for an approval; 64 wrong command
        line; 66 no such store; 73 the file cannot be made; 74 it could not be
        stored, or the output not written.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var color: ColorOptions

  @Argument("The product to buy.", value: "product") var product: String
  @Option("quantity", "How many.", value: "N") var quantity = 1
  @Option(
    "username", "An opaque identifier of the user's account; a UUID becomes the appAccountToken.",
    value: "TEXT")
  var username: String?
  @Option("offer-code", "A code to redeem.", value: "CODE") var offerCode: String?
  @Option("win-back-offer", "A win-back offer.", value: "ID") var winBackOffer: String?
  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Write the receipt to this file.", valueName: "FILE"))
  var file: String?

  func validate() throws {
    guard offerCode == nil || winBackOffer == nil else {
      throw ValidationError("Give --offer-code or --win-back-offer, not both.")
    }
  }

  func run() async throws {
    let payment = Payment(
      productIdentifier: product, quantity: quantity, applicationUsername: username,
      offer: offerCode.map { .code($0) } ?? winBackOffer.map { .winBack($0) })
    let transaction = try await OpenStore.withQueue(options) { _, queue in
      // Check the output file before buying.
      if let file { try CommandInputs.refuse(asOutput: file) }
      let id = try await queue.add(payment)
      try await queue.synchronize()
      return try await queue.transaction(id)
    }
    guard let transaction else {
      throw ToolExit.failure(.internalFault, "the queue does not have the payment that was just added")
    }
    let receipt = transaction.storeTransaction?.receipt
    if let file, let receipt {
      try NewFile.write(receipt, to: file, overwriting: true)
    }
    try TransactionReport(transaction).write(
      json: output.json, color.colors, receipt: file == nil ? receipt : nil)
    switch transaction.transactionState {
    case .purchased, .restored: break
    case .failed: throw ExitCode.invalid
    case .purchasing:
      note(
        "receipt-tool: it is waiting for approval: receipt-tool store pending --store \(options.directory)")
      throw ExitCode.undetermined
    }
  }
}
