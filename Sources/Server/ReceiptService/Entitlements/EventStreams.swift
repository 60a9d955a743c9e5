// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Synchronization

  /// Limits the number of open event streams of each app, so that the streams of one app do not displace the requests
  /// of others.
  final class EventStreams: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// A place among the streams of an app.
    ///
    /// Releasing the object frees the place.
    final class Place: Sendable {
      private let streams: EventStreams
      private let app: String

      fileprivate init(_ streams: EventStreams, _ app: String) {
        self.streams = streams
        self.app = app
      }

      deinit { streams.counts.withLock { $0[app, default: 0] -= 1 } }
    }

    /// Takes a place.
    ///
    /// - Throws: ``Problem`` if the app has reached its limit of streams.
    func open(app: String, limit: Int) throws -> Place {
      let isOpen = counts.withLock { counts in
        guard counts[app, default: 0] < limit else { return false }
        counts[app, default: 0] += 1
        return true
      }
      guard isOpen else {
        throw Problem(
          .tooManyRequests, "too-many-streams",
          "The app has \(limit) event streams, as many as it may. Close some, or read changes without streams.",
          retryAfter: 1)
      }
      return Place(self, app)
    }
  }
#endif
