// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import Storefront

struct StoreFinishCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "finish",
    abstract: "Finish transactions after delivering what was bought; they leave the queue.",
    discussion: """
      EXAMPLES:
        receipt-tool store finish --store shop 2000000000000001
        receipt-tool store finish --store shop --all

      EXIT CODES:
        0 finished; 1 no such transaction in the queue, or it is still being
        processed; 64 wrong command line; 66 no such store; 74 it could not be
        stored, or the output not written.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var output: JSONOption

  @Argument("Transactions, by the store's identifier or by that of the queue.", value: "transaction")
  var identifiers: [String] = []

  @Flag("all", "Finish all that are not still being processed.") var all = false

  func validate() throws {
    guard all != !identifiers.isEmpty else { throw ValidationError("Name transactions, or give --all.") }
  }

  func run() async throws {
    let (finished, missing) = try await OpenStore.withQueue(options) { _, queue in
      try await queue.synchronize()
      let transactions = await queue.transactions
      var finished: [PaymentTransaction] = []
      var missing: [String] = []
      if all {
        finished = transactions.filter { $0.transactionState != .purchasing }
      } else {
        for identifier in identifiers {
          let found = transactions.first {
            $0.transactionIdentifier == identifier || $0.id.rawValue == identifier
          }
          if let found { finished.append(found) } else { missing.append(identifier) }
        }
      }
      for transaction in finished { try await queue.finish(transaction) }
      return (finished, missing)
    }
    for transaction in finished {
      let (id, product) = (transaction.id.rawValue, transaction.payment.productIdentifier)
      try output.write(
        Output.StoreFinish(id: id, transactionId: transaction.transactionIdentifier, productId: product),
        "finished  \(product)  \(transaction.transactionIdentifier ?? id)")
    }
    for identifier in missing {
      let message = "the queue has no transaction \(ShownText.plain(identifier))"
      note("receipt-tool: \(message)")
      try Output.Error(.invalid, message, code: "notFound").write()
    }
    if !missing.isEmpty { throw ExitCode.invalid }
  }
}
