// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import ReceiptBytes
import ReceiptCodec
import ReceiptInspection
import ReceiptVerification

extension InspectCommand {
  func validate() throws {
    try detached.validate(paths: paths)
    try refuse(
      ["--full": isFull, "--certificates": showsCertificates], unless: !json, "makes no sense with --json")
    try refuse(["--full": isFull], unless: !showsCertificates, "makes no sense with --certificates")
    try refuse(["--redact": redacts], unless: json, "needs --json")
    try refuse(
      ["--time": time != "now"], unless: !json && !isFull && !showsCertificates,
      "makes no sense with --json, --full and --certificates, which do not evaluate dates")
    _ = try instant()
  }

  private func instant() throws -> Timestamp {
    try time == "now" ? SystemClock.now() : parseInstant(time, "--time", or: "\"now\" or ", why: true)
  }

  func run() throws {
    let limit = ReceiptLimits.standard.maximumByteCount
    let now = try instant()
    var exitCode: ExitCode?
    let apart = try detached.receipt(limit: limit)
    for path in apart.map({ [$0.name] }) ?? paths {
      do {
        let bytes = try apart?.bytes ?? ReceiptInputText.stripped(InputFile(path).readAll(limit: limit))
        try writeAll(output(of: try Inspection(of: bytes), from: path, at: now))
      } catch let failure as ReadFailure {
        try failure.report()
        exitCode = exitCode ?? ExitCode.unreadableInput
      } catch let error as MalformedReceipt {
        note("receipt-tool: \(ShownText.plain(path)): \(error)")
        try Output.Error(
          .invalid, error.message, code: error.code.rawValue, source: path,
          place: error.place.description
        ).write()
        exitCode = ExitCode.invalid
      }
    }
    if let exitCode { throw exitCode }
  }

  private func output(of inspection: Inspection, from path: String, at now: Timestamp) -> [UInt8] {
    if json {
      return JSONWriter.line("inspection") {
        // Its path may name a person.
        $0.member("source", redacts ? "redacted" : path)
        inspection.write(to: &$0, redacting: redacts)
      }
    }
    let text = InspectionText(of: inspection, source: path, paint: color.colors.callAsFunction)
    return Array((isFull ? text.full : showsCertificates ? text.certificates : text.summary(at: now)).utf8)
  }
}
