// SPDX-License-Identifier: Apache-2.0

#if Server
  /// Throughput and latency of the last ten minutes, as drawings and as a table.
  struct LoadCharts {
    static let seconds = 10

    let charts: [BarChart]
    let loadTable: TableView

    init(_ periods: [RecentRequests.Period]) {
      let rates = periods.map { Double($0.count) / Double(Self.seconds) }
      let faults = periods.map { Double($0.faultCount) / Double(Self.seconds) }
      let median = periods.map { $0.microseconds(0.5) }
      let high = periods.map { $0.microseconds(0.99) }
      let count = periods.reduce(0) { $0 + $1.count }
      let faultCount = periods.reduce(0) { $0 + $1.faultCount }
      let minutes = ["10 min ago", "8", "6", "4", "2", "now"]
      var rate = BarChart(
        id: "rate", title: "Throughput", unit: "requests per second, mean of 10 seconds",
        count: periods.count,
        greatest: rates.max() ?? 0, least: 1, xLabels: minutes,
        summary: "\(ShownNumber.text(count)) requests in ten minutes, at most "
          + "\(Self.number(rates.max() ?? 0)) per second; \(ShownNumber.text(faultCount)) answered with 500 or more.",
        format: Self.number)
      rate.addBars(rates, style: "", legend: "all requests")
      rate.addBars(faults, style: "faults", legend: "of these answered with 500 or more")
      let slowest = high.compactMap { $0 }.max()
      var latency = BarChart(
        id: "latency", title: "Latency", unit: "milliseconds", count: periods.count, greatest: slowest ?? 0,
        least: 1000, xLabels: minutes,
        summary: slowest.map {
          "In each ten seconds, 99 of 100 requests took at most \(Self.milliseconds($0))."
        }
          ?? "No requests.",
        format: { Self.number($0 / 1000) })
      latency.addLine(high, style: "high", legend: "p99: 99 of 100 requests took at most this")
      latency.addLine(median, style: "median", legend: "median")
      charts = [rate, latency]
      loadTable = TableView(
        "Requests of the last ten minutes, newest first",
        ["Seconds ago", "Requests per second", "Answered with 500 or more", "Median latency", "p99 latency"],
        periods.enumerated().reversed().filter { $0.element.count > 0 }.map { index, period in
          let age = (periods.count - 1 - index) * Self.seconds
          return [
            CellView("\(age) to \(age + Self.seconds)"), CellView(Self.number(rates[index])),
            CellView("\(period.faultCount)"), CellView(median[index].map(Self.milliseconds)),
            CellView(high[index].map(Self.milliseconds)),
          ]
        }, empty: "No requests")
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
