// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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
