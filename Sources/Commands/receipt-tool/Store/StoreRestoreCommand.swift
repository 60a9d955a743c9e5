// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import Storefront

extension StoreRestoreCommand {
  func run() async throws {
    let restored = try await OpenStore.withQueue(options) { _, queue in
      let known = Set(await queue.transactions.map(\.id))
      try await queue.restoreCompletedTransactions(applicationUsername: username)
      return await queue.transactions.filter { $0.transactionState == .restored && !known.contains($0.id) }
    }
    try output.write(restored)
    if restored.isEmpty { note("receipt-tool: nothing new to restore") }
  }
}

extension StorePurchasesCommand {
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
