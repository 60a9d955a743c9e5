// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Instants for people, and their distance from now.
enum TimeText {
  /// `2025-10-01 07:09:12 UTC`.
  static func full(_ instant: Timestamp) -> String {
    instant.iso8601Seconds.replacing("T", with: " ").replacing("Z", with: " UTC")
  }

  /// `2025-10-01`.
  static func day(_ seconds: Int64) -> String {
    String(Timestamp(secondsSince1970: seconds).iso8601Seconds.prefix { $0 != "T" })
  }

  /// `3 days ago, on 2025-10-01 07:09:12 UTC`.
  static func relative(_ instant: Timestamp, to now: Timestamp) -> String {
    "\(distance(instant, to: now)), on \(full(instant))"
  }

  /// `3 days ago` or `in 3 days`, rounded down.
  static func distance(_ instant: Timestamp, to now: Timestamp) -> String {
    let seconds = (instant.millisecondsSince1970 - now.millisecondsSince1970) / 1000
    let units: [(name: String, seconds: Double, least: Double)] = [
      ("year", 31_557_600, 2), ("month", 2_629_800, 2), ("day", 86_400, 2),
      ("hour", 3600, 2), ("minute", 60, 2), ("second", 1, 1),
    ]
    guard let unit = units.first(where: { abs(seconds) >= $0.seconds * $0.least }) else {
      return seconds > 0 ? "in a moment" : "just now"
    }
    let count = Int(min(abs(seconds) / unit.seconds, 1e12))
    let amount = "\(count) \(unit.name)\(count == 1 ? "" : "s")"
    return seconds > 0 ? "in \(amount)" : "\(amount) ago"
  }

  /// Returns a period of ISO 8601 in words, such as `3 months` for `P3M`; other texts are unchanged.
  static func period(_ text: String) -> String {
    let names: [Character: String] = ["D": "day", "W": "week", "M": "month", "Y": "year"]
    guard text.first == "P", let unit = text.last.flatMap({ names[$0] }),
      let count = Int(text.dropFirst().dropLast()), count > 0
    else { return text }
    return "\(count) \(unit)\(count == 1 ? "" : "s")"
  }
}
