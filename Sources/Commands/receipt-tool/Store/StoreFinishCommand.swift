// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import Storefront

extension StoreFinishCommand {
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
