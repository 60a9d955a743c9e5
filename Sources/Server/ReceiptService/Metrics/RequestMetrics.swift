// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Metrics
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import Synchronization

  /// Instruments that are created once for each combination of labels.
  ///
  /// Looking one up by its labels would cost more than counting.
  private final class Instruments<Labels: Hashable & Sendable, Instrument: Sendable>: Sendable {
    private let made = Mutex<[Labels: Instrument]>([:])

    func instrument(_ labels: Labels, or make: () -> Instrument) -> Instrument {
      made.withLock { made in
        if let found = made[labels] { return found }
        let new = make()
        made[labels] = new
        return new
      }
    }
  }

  enum RequestMetrics {
    private struct Labels: Hashable {
      let operation: String
      let method: String
      let status: Int
    }

    private static let instruments = Instruments<Labels, (count: Counter, duration: Timer)>()

    static func record(
      operation: String, method: HTTPRequest.Method, status: HTTPResponse.Status, duration: Duration
    ) {
      let labels = Labels(operation: operation, method: method.rawValue, status: status.code)
      let found = instruments.instrument(labels) {
        let dimensions = [
          ("operation", operation), ("method", labels.method), ("status", String(labels.status)),
        ]
        return (
          Counter(label: "http_requests", dimensions: dimensions),
          Timer(label: "http_request_duration", dimensions: [("operation", operation)])
        )
      }
      found.count.increment()
      let (seconds, attoseconds) = duration.components
      found.duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
  }

  /// Counts verdicts as `ReceiptObserver` does, and additionally by app.
  enum VerdictMetrics {
    private struct Labels: Hashable {
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

    private static let counters = Instruments<Labels, Counter>()

    /// Counts verdicts of an app.
    ///
    /// The verdicts of a batch are nearly all alike, so a run of equal verdicts is counted at once.
    static func record(_ verdicts: [Verdict], app: String) {
      var rest = verdicts[...]
      while let first = rest.first {
        let labels = Labels(first, app: app)
        let run = rest.prefix { Labels($0, app: app) == labels }
        counters.instrument(labels) {
          Counter(
            label: "receipt_verdicts",
            dimensions: [
              ("app", app), ("verdict", labels.verdict), ("kind", labels.kind?.rawValue ?? "unknown"),
              ("reason", labels.reason?.rawValue ?? "none"),
            ])
        }.increment(by: run.count)
        rest = rest.dropFirst(run.count)
      }
    }
  }
#endif
