// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Metrics
  internal import Synchronization

  /// Counts requests and measures their durations.
  ///
  /// The counter and the timer for each operation and status are created once.
  enum RequestMetrics {
    private struct Series: Hashable {
      let operation: String
      let method: String
      let status: Int
    }
    private struct Instruments {
      let count: Counter
      let duration: Timer
    }

    private static let instruments = Mutex<[Series: Instruments]>([:])

    static func record(
      operation: String, method: HTTPRequest.Method, status: HTTPResponse.Status, duration: Duration
    ) {
      let series = Series(operation: operation, method: method.rawValue, status: status.code)
      let found = instruments.withLock { instruments in
        if let found = instruments[series] { return found }
        let dimensions = [
          ("operation", operation), ("method", series.method), ("status", String(status.code)),
        ]
        let made = Instruments(
          count: Counter(label: "http_requests", dimensions: dimensions),
          duration: Timer(label: "http_request_duration", dimensions: [("operation", operation)]))
        instruments[series] = made
        return made
      }
      found.count.increment()
      let (seconds, attoseconds) = duration.components
      found.duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
  }
#endif
