// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import TransparencyLog

struct AuditKeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Show the public keys of a trail, from the trusted one to the current one.",
    discussion: """
      With -o the entries that replaced keys are written to a file with their
      proofs, for audit check --keys.

      EXAMPLES:
        receipt-tool audit keys verdicts.audit
        receipt-tool audit keys verdicts.audit -o verdicts.keys

      EXIT CODES:
        0 shown; 1 the trail is damaged; 64 wrong command line; 66 the trail cannot
        be opened; 73 the file is there already; 74 it could not be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var json: JSONOption

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("Write the entries that replaced keys to this new file.", valueName: "FILE"))
  var output: String?

  func run() throws {
    let location = try options.readOnlyLocation()
    let log = try location.open(writing: false)
    let chain = log.keys
    try? log.close()
    if let output { try NewFile.write(chain.encoded, to: output) }
    try show(chain.first, from: nil)
    for succession in chain.successions { try show(succession.key, from: succession.index) }
  }

  private func show(_ key: NoteVerifierKey, from index: UInt64?) throws {
    try json.write(
      Output.AuditKey(publicKey: key.text, index: index),
      (index.map { "from entry \($0)  " } ?? "trusted  ") + key.text)
  }
}
