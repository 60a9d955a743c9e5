// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Foundation
  internal import ReceiptCodec

  /// The time zone in which pages show times: UTC, a named one, or that of the browser.
  struct ShownZone: Sendable, Hashable {
    /// The cookie that stores the choice.
    static let cookie = "receipt-console-zone"
    static let utc = ShownZone(name: "UTC", zone: .gmt, followsBrowser: false)

    /// The name in the IANA time zone database.
    let name: String
    private let zone: TimeZone
    /// `true` if the browser stated the zone, so that a browser in another zone states it again.
    let followsBrowser: Bool

    private init(name: String, zone: TimeZone, followsBrowser: Bool) {
      (self.name, self.zone, self.followsBrowser) = (name, zone, followsBrowser)
    }

    /// Reads a choice as the cookie stores it: `UTC`, `Europe/Berlin`, or `browser:Europe/Berlin`. Returns `nil` for a
    /// zone that is not known.
    init?(_ text: String) {
      let prefix = "browser:"
      let name = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
      guard name.utf8.count <= 64, name == "UTC" || name.contains("/"), let zone = TimeZone(identifier: name)
      else { return nil }
      self.init(name: name, zone: name == "UTC" ? .gmt : zone, followsBrowser: text.hasPrefix(prefix))
    }

    /// The text that the cookie stores.
    var stored: String { followsBrowser ? "browser:\(name)" : name }

    /// The names that a person can choose from, sorted.
    ///
    /// Foundation lists some zones by names that the database has replaced.
    static let names = Set(
      TimeZone.knownTimeZoneIdentifiers + [
        "America/Nuuk", "Asia/Ho_Chi_Minh", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Yangon", "Europe/Kyiv",
      ]
    ).filter { ShownZone($0) != nil && $0.contains("/") }.sorted()

    /// The offset from UTC at an instant, in seconds.
    func offset(at instant: Timestamp) -> Int {
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: instant.millisecondsSince1970 / 1000))
    }
  }

  /// Formats instants in the time zone of the visit.
  enum ShownTime {
    /// The time zone of the page that is being made.
    @TaskLocal static var zone = ShownZone.utc

    /// Formats an instant as in `2025-10-01 07:09:12 UTC`, or `2025-10-01 09:09:12 +02:00`.
    static func full(_ instant: Timestamp) -> String {
      let view = TimeView(instant)
      return "\(view.timeText) \(view.timeZone)"
    }

    /// Formats the date of an instant as in `2025-10-01`.
    static func day(_ instant: Timestamp) -> String { String(local(instant).prefix { $0 != "T" }) }

    /// Formats a number of seconds in its two greatest units, as in `3 h 20 min`.
    static func duration(_ seconds: Double) -> String {
      let total = Int64(seconds.rounded(.down).clamped(to: 0...1e15))
      let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
      let first = units.firstIndex { total >= $0.0 } ?? units.count - 1
      let parts = units[first..<min(first + 2, units.count)].enumerated().compactMap { index, unit in
        let count = index == 0 ? total / unit.0 : total % units[first].0 / unit.0
        return count == 0 && index > 0 ? nil : "\(count) \(unit.1)"
      }
      return parts.joined(separator: " ")
    }

    fileprivate static func local(_ instant: Timestamp) -> String {
      instant.addingSeconds(Double(zone.offset(at: instant))).iso8601Seconds
    }
  }

  /// An instant on one line, with the label of its time zone.
  struct TimeView {
    /// The instant in UTC, for programs.
    let timeValue: String
    /// The date and the time in the visit's zone.
    let timeText: String
    /// `UTC`, or the offset from it.
    let timeZone: String
    /// The instant in UTC with the name of the zone, shown on demand.
    let timeTitle: String

    init(_ instant: Timestamp) {
      let zone = ShownTime.zone
      timeValue = instant.iso8601Seconds
      timeText = String(ShownTime.local(instant).map { $0 == "T" ? " " : $0 }.prefix { $0 != "Z" })
      let minutes = abs(zone.offset(at: instant)) / 60
      func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
      timeZone =
        zone.name == "UTC"
        ? "UTC"
        : "\(zone.offset(at: instant) < 0 ? "−" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
      timeTitle = zone.name == "UTC" ? "UTC" : "\(zone.name); \(timeValue) in UTC"
    }

    /// Creates one from milliseconds since 1970; `nil` without them.
    init?(milliseconds: Int64?) {
      guard let milliseconds else { return nil }
      self.init(Timestamp(milliseconds: milliseconds))
    }
  }

  extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
      Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
  }
#endif
