// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// A drawing of an entitlement's history: the periods with and without access, the changes, and the expiry.
  ///
  /// The table below it has the same content, with the same numbers.
  struct Timeline {
    let segments: [[String: Any]]
    let marks: [[String: Any]]
    let ticks: [[String: String]]
    let nowX: String
    let startText: String
    let endText: String
    let summary: String

    /// The maximum number of changes, and that of entries, in a drawing.
    static let maximumCount = 200

    private static let width = 348.0
    private static let margin = 6.0

    /// Creates a drawing; `nil` if there is nothing to draw.
    ///
    /// - Parameters:
    ///   - changes: The changes of the entitlement, oldest first.
    ///   - number: The number of the first change in the table below.
    ///   - entries: The times of the audit entries about the entitlement, in milliseconds.
    ///   - expires: The time at which it expires.
    ///   - now: The current time.
    init?(
      _ changes: some RandomAccessCollection<EntitlementChange>, number: Int, entries: [Int64],
      expires: Timestamp?, at now: Timestamp
    ) {
      let changes = Array(changes)
      guard let first = changes.first?.time.milliseconds else { return nil }
      let now = now.milliseconds
      let start = min(first, entries.min() ?? first)
      // An expiry in the far future must not compress the past.
      let future = expires.map { max($0.milliseconds, now) - now } ?? 0
      let end = max(start + 1000, now + min(future, max(now - start, 86_400_000)))
      func x(_ time: Int64) -> Double {
        Self.margin + Double(min(max(time, start), end) - start) / Double(end - start) * Self.width
      }
      var segments: [[String: Any]] = []
      func add(_ from: Int64, _ to: Int64, _ style: String) {
        guard to > from else { return }
        segments.append(
          [
            "segmentX": LoadCharts.number(x(from)),
            "segmentWidth": LoadCharts.number(max(x(to) - x(from), 0.5)),
            "segmentClass": style,
          ])
      }
      for (index, change) in changes.enumerated() {
        let next = index + 1 < changes.count ? changes[index + 1].time.milliseconds : now
        add(change.time.milliseconds, next, EntitlementState(change).grantsAccess ? "access" : "none")
      }
      if let last = changes.last.map({ EntitlementState($0) }), last.grantsAccess, let expires {
        add(now, min(expires.milliseconds, end), "ahead")
      }
      var lastX = -Double.infinity
      var isRaised = false
      marks = changes.enumerated().map { index, change in
        let x = x(change.time.milliseconds)
        isRaised = x - lastX < 12 && !isRaised
        lastX = x
        return ["markX": LoadCharts.number(x), "markNumber": number + index, "markTextY": isRaised ? 10 : 22]
      }
      self.segments = segments
      ticks = entries.map { ["tickX": LoadCharts.number(x($0))] }
      nowX = LoadCharts.number(x(now))
      startText = ShownTime.day(Timestamp(milliseconds: start))
      endText = ShownTime.day(Timestamp(milliseconds: end))
      summary =
        "\(changes.count) \(changes.count == 1 ? "change" : "changes") from \(startText) on; "
        + "\(entries.count) entries of the audit trail."
    }
  }
#endif
