// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Metrics
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import Synchronization

  /// Counts verdicts as `ReceiptObserver` does, and additionally by app.
  ///
  /// The counter of each combination of labels is created once: looking it up by its labels would cost more than
  /// counting.
  enum VerdictMetrics {
    private struct Series: Hashable {
      let app: String
      let verdict: String
      let kind: ReceiptKind?
      let reason: ReasonCode?

      init(_ verdict: Verdict, app: String) {
        self.app = app
        self.verdict = verdict.word
        kind = verdict.kind
        reason = verdict.reason?.code
      }
    }

    private static let counters = Mutex<[Series: Counter]>([:])

    /// Counts verdicts of an app.
    ///
    /// The verdicts of a batch are nearly all alike, so a run of equal verdicts is counted at once.
    static func record(_ verdicts: [Verdict], app: String) {
      var rest = verdicts[...]
      while let first = rest.first {
        let series = Series(first, app: app)
        let run = rest.prefix { Series($0, app: app) == series }
        counter(of: series).increment(by: run.count)
        rest = rest.dropFirst(run.count)
      }
    }

    private static func counter(of series: Series) -> Counter {
      counters.withLock { counters in
        if let counter = counters[series] { return counter }
        let counter = Counter(
          label: "receipt_verdicts",
          dimensions: [
            ("app", series.app), ("verdict", series.verdict), ("kind", series.kind?.rawValue ?? "unknown"),
            ("reason", series.reason?.rawValue ?? "none"),
          ])
        counters[series] = counter
        return counter
      }
    }
  }
#endif
