// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec
internal import ReceiptCrypto
import TransparencyLog

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
