// SPDX-License-Identifier: Apache-2.0

#if Server
  /// A chart over the full width of a page: shapes in a square of 100 units that is stretched, and labels beside it, which
  /// keep their size.
  struct BarChart {
    let chartID: String
    let chartTitle: String
    let chartUnit: String
    /// The labels of the vertical axis, from the top to 0.
    let yLabels: [String]
    /// The labels of the horizontal axis, from the left.
    let xLabels: [String]
    let gridLines: [[String: String]]
    private(set) var bars: [[String: String]] = []
    private(set) var lines: [[String: String]] = []
    private(set) var legend: [[String: String]] = []
    /// The chart in a sentence, for screen readers.
    let chartSummary: String
    var chartTable: TableView?

    private let top: Double
    private let count: Int

    /// - Parameters:
    ///   - id: The identifier of the heading.
    ///   - title: The heading.
    ///   - unit: The unit of the vertical axis.
    ///   - count: The number of values.
    ///   - greatest: The greatest value.
    ///   - least: The least value at the top of the axis.
    ///   - xLabels: The labels of the horizontal axis, from the left.
    ///   - summary: The chart in a sentence.
    ///   - format: Formats a value of the vertical axis.
    init(
      id: String, title: String, unit: String, count: Int, greatest: Double, least: Double, xLabels: [String],
      summary: String, format: (Double) -> String
    ) {
      chartID = id
      chartTitle = title
      chartUnit = unit
      chartSummary = summary
      self.xLabels = xLabels
      self.count = count
      let (top, steps) = Self.ceiling(greatest, least: least)
      self.top = top
      yLabels = (0...steps).reversed().map { format(top * Double($0) / Double(steps)) }
      gridLines = (0...steps).map { ["gridY": LoadCharts.number(100 * Double($0) / Double(steps))] }
    }

    /// Adds a bar for each value.
    mutating func addBars(_ values: [Double], style: String, legend text: String) {
      let step = 100 / Double(count)
      for (index, value) in values.enumerated() where value > 0 || style.isEmpty {
        let height = value / top * 100
        bars.append([
          "barX": LoadCharts.number(Double(index) * step + step * 0.1),
          "barY": LoadCharts.number(100 - height),
          "barWidth": LoadCharts.number(step * 0.8), "barHeight": LoadCharts.number(height),
          "barClass": style,
        ])
      }
      legend.append(["legendClass": "bar \(style)", "legendText": text])
    }

    /// Adds a stepped line, with gaps for missing values.
    mutating func addLine(_ values: [Double?], style: String, legend text: String) {
      let step = 100 / Double(count)
      var path = ""
      var isDrawing = false
      for (index, value) in values.enumerated() {
        guard let value else {
          isDrawing = false
          continue
        }
        let (x, y) = (LoadCharts.number(Double(index) * step), LoadCharts.number(100 - value / top * 100))
        path += "\(isDrawing ? "L" : "M")\(x) \(y)h\(LoadCharts.number(step))"
        isDrawing = true
      }
      lines.append(["lineClass": style, "linePath": path])
      legend.append(["legendClass": "line \(style)", "legendText": text])
    }

    /// Rounds up to the next of 1, 2, 5, 10, 20, 50, …, and returns the number of equal steps that are round as well.
    static func ceiling(_ value: Double, least: Double) -> (top: Double, steps: Int) {
      var power = least
      if value <= least { return (least, 5) }
      while power < value {
        for (factor, steps) in [(2.0, 4), (5, 5), (10, 5)] where power * factor >= value {
          return (power * factor, steps)
        }
        power *= 10
      }
      return (power, 5)
    }
  }
#endif
