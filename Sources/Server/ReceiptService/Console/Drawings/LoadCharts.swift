// SPDX-License-Identifier: Apache-2.0

#if Server
  /// Throughput and latency of the last ten minutes, as drawings and as a table.
  struct LoadCharts {
    static let seconds = 10

    let bars: [[String: Any]]
    let medianLine: String
    let highLine: String
    let greatestRate: String
    let greatestLatency: String
    let middleRate: String
    let middleLatency: String
    let loadTable: TableView

    private static let left = 44.0
    private static let width = 312.0
    private static let bottom = 130.0
    private static let height = 116.0

    init(_ periods: [RecentRequests.Period]) {
      let step = Self.width / Double(periods.count)
      let rates = periods.map { Double($0.count) / Double(Self.seconds) }
      let greatest = Self.ceiling(rates.max() ?? 0, least: 1)
      let median = periods.map { $0.microseconds(0.5) }
      let high = periods.map { $0.microseconds(0.99) }
      let slowest = Self.ceiling(high.compactMap { $0 }.max() ?? 0, least: 1000)
      bars = periods.enumerated().map { index, period in
        let height = rates[index] / greatest * Self.height
        let faults = Double(period.faultCount) / Double(Self.seconds) / greatest * Self.height
        return [
          "barX": Self.number(Self.left + Double(index) * step + 0.5),
          "barY": Self.number(Self.bottom - height),
          "barHeight": Self.number(height), "faultHeight": Self.number(faults),
          "faultY": Self.number(Self.bottom - faults), "hasFaults": period.faultCount > 0,
        ]
      }
      func line(_ values: [Double?]) -> String {
        var path = ""
        var isDrawing = false
        for (index, value) in values.enumerated() {
          guard let value else {
            isDrawing = false
            continue
          }
          let x = Self.number(Self.left + Double(index) * step)
          let y = Self.number(Self.bottom - value / slowest * Self.height)
          path += "\(isDrawing ? "L" : "M")\(x) \(y)h\(Self.number(step))"
          isDrawing = true
        }
        return path
      }
      medianLine = line(median)
      highLine = line(high)
      greatestRate = Self.number(greatest)
      middleRate = Self.number(greatest / 2)
      greatestLatency = Self.milliseconds(slowest)
      middleLatency = Self.milliseconds(slowest / 2)
      loadTable = TableView(
        "Requests of the last ten minutes, newest first",
        ["Seconds ago", "Requests a second", "Answered with 500 or more", "Median latency", "99 % within"],
        periods.enumerated().reversed().filter { $0.element.count > 0 }.map { index, period in
          let age = (periods.count - 1 - index) * Self.seconds
          return [
            CellView("\(age) to \(age + Self.seconds)"), CellView(Self.number(rates[index])),
            CellView("\(period.faultCount)"), CellView(median[index].map(Self.milliseconds)),
            CellView(high[index].map(Self.milliseconds)),
          ]
        }, empty: "No requests.")
    }

    /// Rounds up to the next of 1, 2, 5, 10, 20, 50, ….
    private static func ceiling(_ value: Double, least: Double) -> Double {
      var power = least
      while power < value {
        for factor in [2.0, 5, 10] where power * factor >= value { return power * factor }
        power *= 10
      }
      return power
    }

    private static func milliseconds(_ microseconds: Double) -> String { number(microseconds / 1000) + " ms" }

    /// Formats a number with at most two decimals.
    static func number(_ value: Double) -> String {
      let hundredths = Int64((value * 100).rounded())
      let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
      guard rest != 0 else { return "\(whole)" }
      let text = rest < 10 ? "0\(rest)" : "\(rest)"
      return "\(whole)." + (text.hasSuffix("0") ? String(text.dropLast()) : text)
    }
  }
#endif
