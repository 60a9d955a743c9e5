// SPDX-License-Identifier: Apache-2.0

#if Server
  package import CoreMetrics
  internal import Synchronization

  /// Metrics in memory, with an export in Prometheus' text format, version 0.0.4
  /// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
  ///
  /// Names of counters end in `_total`; timers are histograms in seconds; recorders are histograms of the recorded
  /// values. A series is kept as long as the process runs, so labels must have few values. ``maximumSeriesCount``
  /// limits the number of series.
  package final class PrometheusMetrics: MetricsFactory {
    /// The maximum number of series.
    ///
    /// Values of further series are dropped, and `metrics_dropped_series_total` counts the attempts to add one.
    package static let maximumSeriesCount = 10_000
    /// The upper bounds of the buckets of timers, in seconds.
    static let durationBounds: [Double] = [
      0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
    ]
    /// The upper bounds of the buckets of recorders.
    static let valueBounds: [Double] = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 10_000, 100_000]

    private struct Key: Hashable {
      let name: String
      /// The labels in braces; empty if there are no labels.
      let labels: String
    }
    private let series = Mutex<[Key: any PrometheusSeries]>([:])
    private let dropped = Atomic<Int>(0)

    package init() {}

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
      find(Self.name(label) + "_total", dimensions) { PrometheusCounter() }
    }

    package func makeRecorder(
      label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
      guard aggregate else { return find(Self.name(label), dimensions) { PrometheusGauge() } }
      return find(Self.name(label), dimensions) { PrometheusHistogram(bounds: Self.valueBounds) }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
      find(Self.name(label), dimensions) { PrometheusGauge() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
      find(Self.name(label) + "_seconds", dimensions) { PrometheusHistogram(bounds: Self.durationBounds) }
    }

    // Destroying keeps a series, because other handlers may record in it.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// The series with a name and labels.
    ///
    /// It is a new one that is not exported if the name has a series of another type, or if there are too many.
    private func find<Series: PrometheusSeries>(
      _ name: String, _ dimensions: [(String, String)], or make: () -> Series
    ) -> Series {
      let key = Key(name: name, labels: Self.labels(dimensions))
      return series.withLock { series in
        if let found = series[key] { return found as? Series ?? make() }
        let made = make()
        if series.count < Self.maximumSeriesCount {
          series[key] = made
        } else {
          dropped.add(1, ordering: .relaxed)
        }
        return made
      }
    }

    package func text() -> String {
      let all = series.withLock { $0 }.sorted {
        ($0.key.name, $0.key.labels) < ($1.key.name, $1.key.labels)
      }
      var text = ""
      var name = ""
      for (key, series) in all {
        if key.name != name {
          name = key.name
          text += "# TYPE \(name) \(type(of: series).type)\n"
        }
        series.write(name: name, labels: key.labels, to: &text)
      }
      text += "# TYPE metrics_dropped_series_total counter\nmetrics_dropped_series_total "
      return text + "\(dropped.load(ordering: .relaxed))\n"
    }

    static func number(_ value: Double) -> String {
      if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
      if value.isNaN { return "NaN" }
      return Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    /// Converts a label to a metric name: `[a-zA-Z_:][a-zA-Z0-9_:]*`.
    private static func name(_ label: String) -> String {
      let name = label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ":") ? $0 : "_" }
      return name.first.map { $0.isNumber } ?? true ? "_" + String(name) : String(name)
    }

    private static func labels(_ dimensions: [(String, String)]) -> String {
      guard !dimensions.isEmpty else { return "" }
      let pairs = dimensions.map { label, value in
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing(
          "\n", with: "\\n")
        return "\(name(label).replacing(":", with: "_"))=\"\(escaped)\""
      }
      return "{\(pairs.joined(separator: ","))}"
    }
  }

  private protocol PrometheusSeries: AnyObject, Sendable {
    static var type: String { get }
    func write(name: String, labels: String, to text: inout String)
  }

  private final class PrometheusCounter: CounterHandler, PrometheusSeries {
    static let type = "counter"
    private let count = Atomic<Int64>(0)

    func write(name: String, labels: String, to text: inout String) {
      text += "\(name)\(labels) \(count.load(ordering: .relaxed))\n"
    }
    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
  }

  private final class PrometheusGauge: RecorderHandler, MeterHandler, PrometheusSeries {
    static let type = "gauge"
    private let bits = Atomic<UInt64>(0)

    func write(name: String, labels: String, to text: inout String) {
      let value = Double(bitPattern: bits.load(ordering: .relaxed))
      text += "\(name)\(labels) \(PrometheusMetrics.number(value))\n"
    }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func increment(by amount: Double) { change(by: amount) }
    func decrement(by amount: Double) { change(by: -amount) }

    private func change(by amount: Double) {
      var old = bits.load(ordering: .relaxed)
      while true {
        let new = (Double(bitPattern: old) + amount).bitPattern
        let (exchanged, original) = bits.weakCompareExchange(
          expected: old, desired: new, ordering: .relaxed)
        if exchanged { return }
        old = original
      }
    }
  }

  private final class PrometheusHistogram: TimerHandler, RecorderHandler, PrometheusSeries {
    static let type = "histogram"

    private struct State {
      var counts: [UInt64]
      var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
      self.bounds = bounds
      state = Mutex(State(counts: [UInt64](repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) {
      let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
      state.withLock { state in
        state.counts[bucket] += 1
        state.sum += value
      }
    }

    func write(name: String, labels: String, to text: inout String) {
      let state = state.withLock { $0 }
      let prefix = labels.isEmpty ? "{" : labels.dropLast() + ","
      var count: UInt64 = 0
      for (index, bound) in (bounds + [.infinity]).enumerated() {
        count += state.counts[index]
        text += "\(name)_bucket\(prefix)le=\"\(PrometheusMetrics.number(bound))\"} \(count)\n"
      }
      text += "\(name)_sum\(labels) \(PrometheusMetrics.number(state.sum))\n"
      text += "\(name)_count\(labels) \(count)\n"
    }
  }
#endif
