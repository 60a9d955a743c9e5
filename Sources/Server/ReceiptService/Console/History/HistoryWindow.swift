// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import ReceiptCodec

  /// The part of a history that is drawn and listed, which links change: the address keeps it.
  struct HistoryWindow {
    /// The whole history, in milliseconds.
    let whole: ClosedRange<Int64>
    let shown: ClosedRange<Int64>

    /// The shortest part that can be shown, in milliseconds.
    private static let shortest: Int64 = 3_600_000
    private static let day: Int64 = 86_400_000

    /// Creates the window that the query names by its parameters `start` and `end`, in ISO 8601; that of the whole
    /// history without them.
    ///
    /// - Throws: ``Problem`` for a parameter that is no instant.
    init(_ history: PurchaseHistory, _ visit: ConsoleVisit, at now: Timestamp) throws {
      let now = now.milliseconds
      let times =
        history.events.map(\.time.milliseconds) + history.periods.map(\.start.milliseconds)
      let first = min(times.min() ?? now, now)
      // An expiry in the far future must not compress the past.
      let furthest = now + max(now - first, Self.day)
      let ends = history.periods.compactMap { $0.takenBack == nil ? $0.end?.milliseconds : nil }
      let last = max(times.max() ?? now, now, min(ends.max() ?? now, furthest))
      whole = first...max(last, first + Self.shortest)
      let (start, end) = (try Self.instant("start", visit), try Self.instant("end", visit))
      shown = Self.clamped(start ?? whole.lowerBound, end ?? whole.upperBound, in: whole)
    }

    private static func instant(_ name: String, _ visit: ConsoleVisit) throws -> Int64? {
      guard let text = try visit.query(name), !text.isEmpty else { return nil }
      guard let instant = try? Timestamp(iso8601: text) else {
        throw Problem.invalid(name, "It takes an instant such as 2026-01-31T12:00:00Z.")
      }
      return instant.milliseconds
    }

    private static func clamped(_ start: Int64, _ end: Int64, in whole: ClosedRange<Int64>) -> ClosedRange<
      Int64
    > {
      let start = min(max(start, whole.lowerBound), whole.upperBound - shortest)
      return start...max(min(end, whole.upperBound), start + shortest)
    }

    var isWhole: Bool { shown == whole }

    func contains(_ event: PurchaseEvent) -> Bool { shown ~= event.time.milliseconds }

    /// The links that change the window, in their order, with the rest of the address as it is.
    func links(_ visit: ConsoleVisit, at now: Timestamp) -> [[String: Any]] {
      let now = now.milliseconds
      let length = shown.upperBound - shown.lowerBound
      let middle = shown.lowerBound + length / 2
      func link(_ label: String, _ spoken: String, _ start: Int64, _ end: Int64) -> [String: Any] {
        let window = Self.clamped(start, end, in: whole)
        // A window that ends now has moved since its link was made.
        let isCurrent =
          abs(window.lowerBound - shown.lowerBound) + abs(window.upperBound - shown.upperBound) <= length
          / 100
        return [
          "zoomLabel": label, "zoomName": spoken, "isZoomCurrent": isCurrent,
          "zoomTarget": address(window == whole ? nil : window, visit),
        ]
      }
      var links = [link("All", "All of it", whole.lowerBound, whole.upperBound)]
      for (label, days) in [("Year", 365), ("90 days", 90), ("30 days", 30), ("7 days", 7)]
        as [(String, Int64)]
      where whole.upperBound - whole.lowerBound > days * Self.day {
        links.append(link(label, "The last \(days) days", now - days * Self.day, now))
      }
      if !isWhole {
        links.append(
          link("‹", "Earlier", shown.lowerBound - length / 2, shown.upperBound - length / 2))
        links.append(link("›", "Later", shown.lowerBound + length / 2, shown.upperBound + length / 2))
      }
      if length > Self.shortest {
        links.append(link("+", "Zoom in", middle - length / 4, middle + length / 4))
      }
      if !isWhole { links.append(link("−", "Zoom out", middle - length, middle + length)) }
      return links
    }

    private func address(_ window: ClosedRange<Int64>?, _ visit: ConsoleVisit) -> String {
      let others = visit.request.uri.queryParameters.filter {
        !["start", "end", "events-from", "taken", "q"].contains($0.key)
      }
      .map { (String($0.key), Optional(String($0.value))) }
      func text(_ instant: Int64?) -> String? { instant.map { Timestamp(milliseconds: $0).iso8601 } }
      return ConsoleURL.make(
        visit.request.uri.path,
        others + [("start", text(window?.lowerBound)), ("end", text(window?.upperBound))]) + "#history"
    }
  }
#endif
