// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct ReceiptServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipt-server", abstract: "Verifies receipts over HTTP.")

  func run() async throws {}
}
