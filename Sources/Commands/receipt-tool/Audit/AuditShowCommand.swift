// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
import ReceiptCrypto
import TransparencyLog

struct AuditShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show entries by index.",
    discussion: """
      EXAMPLES:
        receipt-tool audit show verdicts.audit 17
        receipt-tool audit show verdicts.audit 17 18 19 --json
        # the entry byte for byte
        receipt-tool audit show verdicts.audit 17 --raw | sha256sum
        receipt-tool audit show verdicts.audit 17 --receipt | receipt-tool verify -

      EXIT CODES:
        0 shown; 1 there is no such entry, or its receipt is not kept; 64 wrong
        command line; 66 the trail cannot be opened; 74 the output cannot be
        written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var color: ColorOptions

  @Argument("Indexes; the first entry is 0.", value: "index") var indexes: [UInt64]

  @Flag("raw", "Print the entries byte for byte: the leaves of the tree.") var raw = false

  @Flag("receipt", "Print the stored receipt, as it was verified.") var receipt = false

  @Flag("customer", "Also show the customer, unless that was erased.") var customer = false

  func validate() throws {
    guard !indexes.isEmpty else { throw ValidationError("Name at least one entry by its index.") }
    guard [raw, receipt, output.json].filter({ $0 }).count < 2 else {
      throw ValidationError("Give one of --raw, --receipt and --json.")
    }
    try refuse(["--customer": customer], unless: !raw && !receipt, "has no effect with --raw or --receipt")
  }

  /// The number of entries that are read together.
  private static let pageCount = 256

  func run() throws {
    try options.read { view in
      for start in stride(from: 0, to: indexes.count, by: Self.pageCount) {
        let page = indexes[start..<min(start + Self.pageCount, indexes.count)]
        try view.prefetch(page)
        for index in page { try writeAll(shown(index, in: view)) }
      }
      view.warnOfUncheckpointed(indexes)
    }
  }

  private func shown(_ index: UInt64, in view: TrailView) throws -> [UInt8] {
    if receipt {
      guard let receipt = try view.erasablePart(at: index)?.receipt else {
        throw ToolExit.failure(.invalid, "entry \(index): its receipt was not kept, or it was erased")
      }
      return receipt
    }
    let recorded = try view.entry(at: index)
    if raw { return recorded.bytes }
    let report = try EntryReport(recorded, in: view, showsCustomer: customer)
    return output.json ? report.jsonLine() : Array(color.colors.painted(report.text()).utf8)
  }
}

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

struct AuditStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show the size of a trail, its name and its last checkpoint.",
    discussion: """
      EXAMPLE:
        receipt-tool audit stats verdicts.audit --json

      EXIT CODES:
        0 shown; 1 the trail contradicts its last checkpoint; 64 wrong command line;
        66 the trail cannot be opened; 74 the output cannot be written.
      """)

  @OptionGroup var options: TrailOptions
  @OptionGroup var output: JSONOption

  func run() throws {
    let (configuration, statistics, root) = try options.readLog { log in
      (log.configuration, try log.statistics(), try log.withView { $0.root })
    }
    let once =
      switch configuration.once {
      case .forever: "forever"
      case .seconds(let seconds): "\(seconds) seconds"
      }
    let (trail, origin) = (options.location.name, configuration.origin)
    let (count, bytes) = (statistics.entryCount, statistics.storedByteCount)
    let instant = { (time: Int64) in Timestamp(millisecondsSince1970: Double(time)) }
    let (first, last) = (statistics.oldestTime.map(instant), statistics.newestTime.map(instant))
    let lines = [
      "trail         \(trail)", "origin        \(origin)", "once          \(once)",
      "entries       \(count)", "checkpointed  \(statistics.checkpointSize)",
      "root          \(root.base64)",
      "bytes         \(bytes)" + (count > 0 ? "  (\(bytes / count) an entry)" : ""),
      first.map { "first         \($0.iso8601)" }, last.map { "last          \($0.iso8601)" },
    ]
    try output.write(
      Output.AuditStatistics(
        trail: trail, origin: origin, once: once, entries: count, treeSize: statistics.checkpointSize,
        rootHash: root.hexadecimal, bytes: bytes, firstTime: first, lastTime: last),
      lines.compactMap(\.self))
  }
}
