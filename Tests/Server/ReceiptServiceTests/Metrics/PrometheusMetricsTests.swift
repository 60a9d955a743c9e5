// SPDX-License-Identifier: Apache-2.0

#if Server
  import CoreMetrics
  @testable import ReceiptService
  import Testing

  /// The text that Prometheus reads.
  @Suite struct PrometheusMetricsTests {
    /// The values of the lines of a text, by their series.
    private static func values(_ metrics: PrometheusMetrics) -> [String: String] {
      var values: [String: String] = [:]
      for line in metrics.text().split(separator: "\n") where !line.hasPrefix("#") {
        guard let space = line.lastIndex(of: " ") else { continue }
        values[String(line[..<space])] = String(line[line.index(after: space)...])
      }
      return values
    }

    @Test("the buckets of a histogram are cumulative, and the last is the count")
    func histogram() throws {
      let metrics = PrometheusMetrics()
      let timer = metrics.makeTimer(label: "time", dimensions: [("a", "b")])
      for nanoseconds: Int64 in [50_000, 100_000, 100_001, 20_000_000, 3_000_000_000, 60_000_000_000] {
        timer.recordNanoseconds(nanoseconds)
      }
      let values = Self.values(metrics)
      let buckets = PrometheusMetrics.durationBounds.map { bound in
        values["time_seconds_bucket{a=\"b\",le=\"\(PrometheusMetrics.number(bound))\"}"]
      }
      #expect(
        buckets == [
          "2", "3", "3", "3", "3", "3", "3", "4", "4", "4", "4", "4", "4", "4", "5",
        ])
      #expect(values["time_seconds_bucket{a=\"b\",le=\"+Inf\"}"] == "6")
      #expect(values["time_seconds_count{a=\"b\"}"] == "6")
      #expect(
        Double(try #require(values["time_seconds_sum{a=\"b\"}"])).map { abs($0 - 63.020250001) < 1e-9 }
          == true)
      #expect(metrics.text().contains("# TYPE time_seconds histogram\n"))
    }

    @Test("recorders are histograms of what they record, and gauges have the last value")
    func recorders() {
      let metrics = PrometheusMetrics()
      let recorder = metrics.makeRecorder(label: "batch.size", dimensions: [], aggregate: true)
      for value: Int64 in [1, 2, 3, 1_000_000] { recorder.record(value) }
      metrics.makeRecorder(label: "size", dimensions: [], aggregate: false).record(Int64(7))
      let meter = metrics.makeMeter(label: "open", dimensions: [])
      meter.increment(by: 3)
      meter.decrement(by: 1)
      let values = Self.values(metrics)
      #expect(values["batch_size_bucket{le=\"1\"}"] == "1")
      #expect(values["batch_size_bucket{le=\"5\"}"] == "3")
      #expect(values["batch_size_bucket{le=\"+Inf\"}"] == "4")
      #expect(values["batch_size_sum"] == "1000006")
      #expect(values["size"] == "7")
      #expect(values["open"] == "2")
    }

    @Test("counters of one name and labels are one, and labels are escaped")
    func counters() {
      let metrics = PrometheusMetrics()
      for _ in 0..<2 {
        metrics.makeCounter(label: "9-lives", dimensions: [("a:b", "x\"\\\ny")]).increment(by: 2)
      }
      #expect(Self.values(metrics)["_9_lives_total{a_b=\"x\\\"\\\\\\ny\"}"] == "4")
    }
  }
#endif
