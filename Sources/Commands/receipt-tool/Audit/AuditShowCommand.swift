// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import CommandOutput
import ReceiptCodec
import ReceiptCrypto
import TransparencyLog

extension AuditShowCommand {
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
    return output.chosen(report.jsonLine(), report.text())
  }
}

extension AuditPolicyCommand {
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

extension AuditStatsCommand {
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
