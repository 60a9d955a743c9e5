// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import Storefront

struct StoreRefundCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refund",
    abstract: "Refund a purchase, or reverse a refund; prints the resulting notifications.",
    discussion: """
      EXAMPLES:
        receipt-tool store refund --store shop 2000000000000001
        receipt-tool store refund --store shop 2000000000000001 --reverse

      EXIT CODES:
        0 done; 1 no such transaction, or refused; 64 wrong command line; 66 no such
        store; 74 it could not be stored, or the output not written.
      """)

  @OptionGroup var options: StoreFolderOptions
  @OptionGroup var output: JSONOption

  @Argument("The transaction.", value: "transaction") var transaction: String
  @Flag("issue", "Give an issue with the app as the reason.") var hasIssue = false
  @Flag("reverse", "Reverse the refund.") var reverses = false
  @Flag("decline", "Decline a requested refund.") var declines = false

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
