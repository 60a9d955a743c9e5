// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Metrics
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import Synchronization

  /// Counts verdicts as `ReceiptObserver` does, by app in addition. A counter for each combination is made once: looking one up
  /// by its labels would cost more than it counts.
  enum VerdictMetrics {
    private struct Series: Hashable {
      let app: String
      let verdict: String
      let kind: ReceiptKind?
      let reason: ReasonCode?
    }

    private static let counters = Mutex<[Series: Counter]>([:])

    static func record(_ verdict: Verdict, app: String) {
      let name =
        switch verdict {
        case .valid: "valid"
        case .invalid: "invalid"
        case .undetermined: "undetermined"
        }
      let series = Series(app: app, verdict: name, kind: verdict.kind, reason: verdict.reason?.code)
      let counter = counters.withLock { counters in
        if let counter = counters[series] { return counter }
        let counter = Counter(
          label: "receipt_verdicts",
          dimensions: [
            ("app", app), ("verdict", name), ("kind", series.kind?.rawValue ?? "unknown"),
            ("reason", series.reason?.rawValue ?? "none"),
          ])
        counters[series] = counter
        return counter
      }
      counter.increment()
    }
  }
#endif
