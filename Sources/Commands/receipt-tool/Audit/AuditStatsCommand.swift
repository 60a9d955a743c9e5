// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import Glibc
import ReceiptBytes
import ReceiptCodec
internal import ReceiptCrypto
import TransparencyLog

/// `receipt-tool audit stats`.
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
    let location = try options.readOnlyLocation()
    let log = try location.open(writing: false)
    do {
      let statistics = try log.statistics()
      let root = try log.withView { $0.root }
      try log.close()
      let text = output.json ? json(log, statistics, root) : lines(log, statistics, root)
      try writeAll(text)
    } catch {
      throw TrailLocation.failure(error, location.name)
    }
  }

  private func json(_ log: AuditLog, _ statistics: TrailStatistics, _ root: TreeHash) -> [UInt8] {
    var object = JSONWriter(.auditStatistics)
    object.member("trail", options.location.name)
    object.member("origin", log.configuration.origin)
    object.member("once", once(log))
    object.member("entries", statistics.entryCount)
    object.member("treeSize", statistics.checkpointSize)
    object.member("rootHash", root.hexadecimal)
    object.member("bytes", statistics.storedByteCount)
    object.member("firstTime", statistics.oldestTime.map(EntryReport.instant))
    object.member("lastTime", statistics.newestTime.map(EntryReport.instant))
    return object.line()
  }

  private func lines(_ log: AuditLog, _ statistics: TrailStatistics, _ root: TreeHash) -> [UInt8] {
    let (count, bytes) = (statistics.entryCount, statistics.storedByteCount)
    var lines = [
      "trail         \(options.location.name)",
      "origin        \(log.configuration.origin)",
      "once          \(once(log))",
      "entries       \(count)",
      "checkpointed  \(statistics.checkpointSize)",
      "root          \(root.base64)",
      "bytes         \(bytes)" + (count > 0 ? "  (\(bytes / count) an entry)" : ""),
    ]
    if let oldest = statistics.oldestTime { lines.append("first         \(EntryReport.instant(oldest))") }
    if let newest = statistics.newestTime { lines.append("last          \(EntryReport.instant(newest))") }
    return Array((lines.map { ShownText.plain($0) }.joined(separator: "\n") + "\n").utf8)
  }

  private func once(_ log: AuditLog) -> String {
    switch log.configuration.once {
    case .forever: "forever"
    case .seconds(let seconds): "\(seconds) seconds"
    }
  }
}
