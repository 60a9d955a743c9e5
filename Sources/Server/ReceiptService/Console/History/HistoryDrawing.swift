// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// A drawing of a history in a window of time: a lane for each product with the periods of access, and the events with
  /// the numbers that the table below has.
  ///
  /// Places along the time are percentages of the width, so that texts keep their size. There are two drawings, for wide
  /// and for narrow windows, which differ in how close to each other numbers may be.
  struct HistoryDrawing {
    private let history: PurchaseHistory
    private let window: ClosedRange<Int64>
    private let now: Int64
    private let lanes: [String]
    let hiddenLaneCount: Int

    private static let maximumLaneCount = 6
    private static let firstLaneY = 22
    private static let laneHeight = 42

    /// Creates a drawing; `nil` if there is nothing to draw.
    init?(_ history: PurchaseHistory, _ window: HistoryWindow, at now: Timestamp) {
      self.history = history
      self.window = window.shown
      self.now = now.milliseconds
      // The products in the window, the latest first.
      var latest: [String: Int64] = [:]
      func note(_ product: String?, _ time: Int64) {
        if let product { latest[product] = max(latest[product] ?? time, time) }
      }
      for event in history.events where window.contains(event) {
        note(event.product, event.time.milliseconds)
      }
      for period in history.periods {
        let (start, end) = (period.start.milliseconds, period.end?.milliseconds ?? .max)
        if start <= self.window.upperBound, end >= self.window.lowerBound {
          note(period.product, min(end, self.window.upperBound))
        }
      }
      let products = latest.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
      lanes = Array(products.prefix(Self.maximumLaneCount))
      hiddenLaneCount = products.count - lanes.count
      guard !lanes.isEmpty || history.events.contains(where: { window.contains($0) }) else { return nil }
    }

    /// Returns the values of a template, for a wide and a narrow window. No other drawing of the page has the name.
    func views(_ id: String) -> [[String: Any]] {
      [
        view(
          hatch: "hatch-\(id)-wide", style: "wide", margin: 3, leastWidth: 580, laneLabel: 60, tickCount: 6),
        view(
          hatch: "hatch-\(id)-narrow", style: "narrow", margin: 6, leastWidth: 280, laneLabel: 26,
          tickCount: 2),
      ]
    }

    private func view(
      hatch: String, style: String, margin: Double, leastWidth: Double, laneLabel: Int, tickCount: Int
    ) -> [String: Any] {
      let length = Double(window.upperBound - window.lowerBound)
      // A digit is less than 7 pixels wide.
      let digitCount = Double("\(history.events.count)".count)
      let spacing = (7 * (2 * digitCount + 1) + 4) / leastWidth * 100
      func x(_ time: Int64) -> Double {
        let time = min(max(time, window.lowerBound), window.upperBound)
        return margin + Double(time - window.lowerBound) / length * (100 - 2 * margin)
      }
      let axis = Self.firstLaneY + lanes.count * Self.laneHeight + 6
      let drawnLanes = lanes.enumerated().map { index, product -> [String: Any] in
        let top = Self.firstLaneY + index * Self.laneHeight
        return [
          "laneName": product.count > laneLabel ? product.prefix(laneLabel - 1) + "…" : product,
          "laneNameY": top + 12, "barY": top + 18, "dotY": top + 26,
          "laneX": Self.percent(margin), "segments": segments(of: product, x), "dots": dots(of: product, x),
        ]
      }
      let isShort = window.upperBound - window.lowerBound < 3 * 86_400_000
      let count = isShort ? (tickCount + 1) / 2 : tickCount
      let ticks = (0...count).map { index -> [String: Any] in
        let time = window.lowerBound + Int64(length * Double(index) / Double(count))
        let instant = Timestamp(milliseconds: time)
        return [
          "tickX": Self.percent(index == 0 ? 0 : index == count ? 100 : x(time)),
          "tickText": isShort ? String(TimeView(instant).timeText.prefix(16)) : ShownTime.day(instant),
          "tickClass": index == 0 ? "start" : index == count ? "end" : "middle",
        ]
      }
      return ConsoleVisit.present([
        "drawingClass": style, "drawingHeight": axis + 42, "hatch": hatch, "lanes": drawnLanes,
        "marks": marks(spacing, x), "ticks": ticks, "axisY": axis, "tickY": axis + 16, "guideY": axis,
        "axisStart": Self.percent(margin), "axisEnd": Self.percent(100 - margin),
        "present": window ~= now
          ? ["nowX": Self.percent(x(now)), "nowTextY": axis + 34] as [String: Any] : nil,
      ])
    }

    /// The numbers above the lanes; those that would overlap are one range.
    private func marks(_ spacing: Double, _ x: (Int64) -> Double) -> [[String: Any]] {
      var marks: [(x: Double, first: Int, last: Int)] = []
      for (index, event) in history.events.enumerated() where window ~= event.time.milliseconds {
        let place = x(event.time.milliseconds)
        if let last = marks.last, place - last.x < spacing {
          marks[marks.count - 1].last = index + 1
        } else {
          marks.append((place, index + 1, index + 1))
        }
      }
      return marks.map { mark in
        [
          "markX": Self.percent(mark.x),
          "markText": mark.first == mark.last ? "\(mark.first)" : "\(mark.first)–\(mark.last)",
        ]
      }
    }

    /// The parts of a lane's bar. Adjacent ones of the same kind are one.
    private func segments(of product: String, _ x: (Int64) -> Double) -> [[String: Any]] {
      var parts: [(start: Int64, end: Int64, style: String)] = []
      for period in history.periods where period.product == product {
        let (start, end) = (period.start.milliseconds, period.end?.milliseconds ?? .max)
        let cut = min(end, period.takenBack?.milliseconds ?? .max)
        parts.append((start, min(cut, now), "access"))
        if cut > now { parts.append((max(start, now), cut, "ahead")) }
        if cut < end { parts.append((cut, min(end, max(now, cut)), "none")) }
      }
      var merged: [(start: Int64, end: Int64, style: String)] = []
      for part in parts.sorted(by: { ($0.style, $0.start) < ($1.style, $1.start) })
      where part.end > part.start && part.end > window.lowerBound && part.start < window.upperBound {
        if let last = merged.last, last.style == part.style, x(part.start) - x(last.end) < 0.3 {
          merged[merged.count - 1].end = max(last.end, part.end)
        } else {
          merged.append(part)
        }
      }
      return merged.map { part in
        [
          "segmentX": Self.percent(x(part.start)),
          "segmentWidth": Self.percent(max(x(part.end) - x(part.start), 0.2)),
          "segmentClass": part.style, "isHatched": part.style == "none",
        ]
      }
    }

    private func dots(of product: String, _ x: (Int64) -> Double) -> [[String: Any]] {
      var seen: Set<String> = []
      return history.events.compactMap { event -> [String: Any]? in
        guard event.product == product, window ~= event.time.milliseconds else { return nil }
        let place = (x(event.time.milliseconds) * 2).rounded() / 2
        guard seen.insert("\(place) \(event.style)").inserted else { return nil }
        return ["dotX": Self.percent(place), "dotClass": event.style]
      }
    }

    private static func percent(_ value: Double) -> String { LoadCharts.number(value) + "%" }
  }
#endif
