// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCrypto

struct AuditPolicyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "policy", abstract: "Show the policy whose digest entries state.",
    discussion: """
      receipt-tool verify --audit keeps the text of its policy in the trail, once.
      The digest in an entry is SHA-256 of the text.

      EXAMPLES:
        receipt-tool audit show verdicts.audit 0
        receipt-tool audit policy verdicts.audit \\
          5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03

      EXIT CODES:
        0 shown; 1 the trail does not have it; 64 wrong command line; 66 the trail
        cannot be opened; 74 the output cannot be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  @Argument("The digest, in hexadecimal or base64.", value: "digest") var digest: String

  func validate() throws {
    guard RecordInput.digest(digest) != nil else {
      throw ValidationError("A digest is SHA-256 in 64 hexadecimal digits or in base64.")
    }
  }

  func run() throws {
    guard let digest = RecordInput.digest(digest) else { throw ExitCode.usage }
    guard let text = try options.read({ try $0.policy(digest) }) else {
      throw ToolExit.failure(
        .invalid, "the trail does not have the policy \(digest.hexadecimal)", code: "notFound")
    }
    guard output.json else { return try writeAll(Array(text.utf8)) }
    try output.write(Output.AuditPolicy(policySha256: digest.hexadecimal, text: text))
  }
}
