// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import Storefront

struct StoreRestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore", abstract: "Restore finished purchases, each as a new transaction in the queue.",
    discussion: """
      The catalogue determines which products can be restored: by default
      non-consumables. To show all purchases: receipt-tool store purchases

      EXAMPLES:
        receipt-tool store restore --store shop
        receipt-tool store restore --store shop \\
          --username 7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f

      EXIT CODES:
        0 restored, also where there was nothing to restore; 1 refused; 64 wrong
        command line; 66 no such store; 74 it could not be stored, or the output not
        written.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var color: ColorOptions

  @Option("username", "Only purchases with this username.", value: "TEXT") var username: String?

  func run() async throws {
    let restored = try await OpenStore.withQueue(options) { _, queue in
      let known = Set(await queue.transactions.map(\.id))
      try await queue.restoreCompletedTransactions(applicationUsername: username)
      return await queue.transactions.filter { $0.transactionState == .restored && !known.contains($0.id) }
    }
    try TransactionReport.write(restored, json: output.json, color.colors)
    if restored.isEmpty { note("receipt-tool: nothing new to restore") }
  }
}

struct StorePurchasesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purchases", abstract: "Show all purchases of the customer in the store's records.",
    discussion: """
      With --receipt it prints the current signed transaction of one purchase, which
      states a refund.

      EXAMPLES:
        receipt-tool store purchases --store shop
        receipt-tool store purchases --store shop \\
          --receipt 2000000000000001 > now.jws

      EXIT CODES:
        0 shown; 1 no such transaction; 64 wrong command line; 66 no such store; 74
        the output cannot be written.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var output: JSONOption

  @Option("receipt", "Print the current signed transaction of this purchase.", value: "TRANSACTION")
  var receipt: String?

  func validate() throws {
    try refuse(
      ["--json": output.json, "--account": options.namedAccount != nil], unless: receipt == nil,
      "has no effect with --receipt")
  }

  func run() async throws {
    try await OpenStore.with(options.folder) { open in
      if let receipt {
        let signed = try await open.store.signedTransaction(receipt)
        try writeAll(signed + "\n")
        return
      }
      var last: String?
      while true {
        let page = try await open.store.purchaseRecord(of: options.account, after: last)
        for purchase in page { try write(purchase) }
        guard let end = page.last else { return }
        last = end.transaction.transactionIdentifier
      }
    }
  }

  private func write(_ purchase: RecordedPurchase) throws {
    let sold = purchase.transaction
    let (expires, revoked) = (purchase.current.expiresDate, purchase.current.revocationDate)
    let parts = [
      sold.transactionIdentifier, sold.transactionDate.iso8601, sold.payment.productIdentifier,
      expires.map { "expires \($0.iso8601)" }, revoked.map { "REVOKED \($0.iso8601)" },
      purchase.isRestoration ? "restored" : nil, purchase.isFinished ? nil : "not finished",
    ]
    try output.write(
      Output.StorePurchase(
        transactionId: sold.transactionIdentifier, originalTransactionId: sold.originalTransactionIdentifier,
        productId: sold.payment.productIdentifier, quantity: Int64(sold.payment.quantity),
        purchaseDate: sold.transactionDate, expiresDate: expires, revocationDate: revoked,
        price: purchase.charged, finished: purchase.isFinished, restored: purchase.isRestoration),
      parts.compactMap(\.self).joined(separator: "  "))
  }
}
