// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptBytes
import ReceiptCodec
import Storefront

extension StoreBuyCommand {
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
    try output.write([transaction], receipt: file == nil ? receipt : nil)
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

extension StorePendingCommand {
  func run() async throws {
    try await OpenStore.withQueue(options) { open, queue in
      try await queue.synchronize()
      try await output.write(queue.transactions)
      var last: PendingPurchase?
      while true {
        let page = try await open.store.pendingPurchases(after: last)
        for purchase in page {
          let (request, account) = (purchase.requestIdentifier, purchase.account)
          let product = purchase.payment.productIdentifier
          try output.write(
            Output.PendingPurchase(
              state: "waiting", request: request, account: account, productId: product,
              quantity: Int64(purchase.payment.quantity), requestDate: purchase.date),
            "waiting for approval  \(product)  \(account)  \(request)")
        }
        guard let end = page.last else { return }
        last = end
      }
    }
  }
}

extension StoreApproveCommand {
  func run() async throws {
    let transactions = try await OpenStore.withQueue(options) { open, queue in
      let outcome = try await open.store.approve(request, account: options.account)
      if case .failed(let error) = outcome { throw error }
      try await queue.synchronize()
      return await queue.transactions.filter { $0.storeTransaction?.requestIdentifier == request }
    }
    try output.write(transactions)
  }
}

extension StoreDeclineCommand {
  func run() async throws {
    let failed = try await OpenStore.withQueue(options) { open, queue in
      // Receive the store's earlier answers first, since they do not belong to this request.
      try await queue.synchronize()
      let before = Set(await queue.transactions.filter { $0.transactionState == .failed }.map(\.id))
      try await open.store.decline(request, account: options.account)
      try await queue.synchronize()
      return await queue.transactions.filter { $0.transactionState == .failed && !before.contains($0.id) }
    }
    try output.write(failed)
  }
}

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
