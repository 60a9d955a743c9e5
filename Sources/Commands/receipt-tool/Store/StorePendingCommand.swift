// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Storefront

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
