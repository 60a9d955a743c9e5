// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptBytes
import ReceiptCodec

/// `receipt-tool inspect`: shows the contents of receipts without verification.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show everything inside receipts, unverified.",
    discussion: """
      Shows every field and attribute, including unknown ones, then the certificates. Nothing is verified: use
      'receipt-tool verify' to check whether a receipt is genuine.

      EXAMPLES:
        receipt-tool inspect receipt.b64
        receipt-tool inspect --json notification.json
        receipt-tool inspect --data purchase.txt --signature signature.txt

      EXIT CODES:
        0 shown; 1 at least one is not a receipt; 64 wrong command line; 66 an input cannot be read; 74 the
        output cannot be written.
      """)

  @Flag(name: .customLong("json"), help: "Print one JSON object a line.")
  var json = false

  @Argument(help: ArgumentHelp("Files to read; - is standard input.", valueName: "path"))
  var paths: [String] = []

  @OptionGroup(title: "Data and signature apart") var detached: DetachedFilesOptions

  func validate() throws { try detached.validate(paths: paths) }

  func run() throws {
    let limit = ReceiptLimits.standard.maximumByteCount
    var exitCode: ExitCode?
    let apart = try detached.receipt(limit: limit)
    for path in apart.map({ [$0.name] }) ?? paths {
      do {
        let bytes = try apart?.bytes ?? InputFile(path).readAll(limit: limit)
        let report = Inspection(source: path).report(of: try UnverifiedReceipt(parsing: bytes))
        let output = json ? report.encoded() + [0x0A] : Array(IndentedText.text(of: report).utf8)
        try writeAll(output)
      } catch let failure as ReadFailure {
        note("receipt-tool: \(failure)")
        exitCode = exitCode ?? ToolExit.unreadableInput
      } catch let error as MalformedReceipt {
        if json {
          let report = Inspection(source: path).report(of: error)
          try writeAll(report.encoded() + [0x0A])
        }
        note("receipt-tool: \(ShownText.plain(path)): \(error)")
        exitCode = ToolExit.invalid
      }
    }
    if let exitCode { throw exitCode }
  }
}
