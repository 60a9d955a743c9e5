// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import Storefront

extension StoreRefundCommand {
  func validate() throws {
    guard !(reverses && declines) else { throw ValidationError("Give --reverse or --decline, not both.") }
    try refuse(
      ["--issue": hasIssue], unless: !reverses && !declines, "has no effect with --reverse or --decline")
  }

  func run() async throws {
    let notifications = try await OpenStore.with(options.folder) { open in
      if reverses { return try await open.store.reverseRefund(transaction) }
      if declines { return try await open.store.declineRefund(transaction) }
      return try await open.store.refund(transaction, reason: hasIssue ? .issue : .other)
    }
    try output.write(notifications)
  }
}
