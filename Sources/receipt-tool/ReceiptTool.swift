// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

@main
struct ReceiptTool: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "receipt-tool")
}
