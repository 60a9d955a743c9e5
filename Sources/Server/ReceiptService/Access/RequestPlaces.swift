// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import NIOCore
  internal import Synchronization

  /// A limit on the number of requests that are served at once.
  final class RequestPlaces: Sendable {
    let maximum: Int
    private let count = Atomic<Int>(0)

    /// The number of free places.
    var remaining: Int { max(0, maximum - count.load(ordering: .relaxed)) }

    init(maximum: Int) { self.maximum = maximum }

    /// Takes a place, or throws if all are taken.
    func take() throws(Problem) {
      guard count.add(1, ordering: .relaxed).newValue <= maximum else {
        giveBack()
        throw Problem(
          .serviceUnavailable, "overloaded", "Too many requests are being served. Try again.", retryAfter: 1)
      }
    }

    func giveBack() { count.subtract(1, ordering: .relaxed) }

    /// A place that is given back when it is released.
    final class Place: Sendable {
      private let places: RequestPlaces

      /// - Throws: ``Problem`` if all places are taken.
      init(in places: RequestPlaces) throws(Problem) {
        try places.take()
        self.places = places
      }

      deinit { places.giveBack() }

      /// Lets the connection hold the place until the answer that follows has been sent: see
      /// ``GracefulCloseHandler``.
      func hold(by channel: any Channel) {
        if channel.isActive { channel.triggerUserOutboundEvent(self, promise: nil) }
      }
    }
  }

  /// Places that are counted by app, so that what is served for one app does not displace the requests of others.
  final class AppPlaces: Sendable {
    /// Returns `true` if an app may take one more place.
    ///
    /// It gets the number of the app's places, and those of all apps that have any.
    private let isFree: @Sendable (_ own: Int, _ counts: [String: Int]) -> Bool
    private let refusal: Problem
    private let counts = Mutex<[String: Int]>([:])

    private init(
      _ refusal: Problem, isFree: @escaping @Sendable (_ own: Int, _ counts: [String: Int]) -> Bool
    ) {
      self.refusal = refusal
      self.isFree = isFree
    }

    /// The places for batches.
    ///
    /// An app gets a second or further place only if enough places stay free: one for each app without a batch, up to
    /// half of all places.
    static func batches(maximum: Int, appCount: Int) -> AppPlaces {
      let refusal = Problem(
        .serviceUnavailable, "overloaded", "Too many batches are being served. Try again.", retryAfter: 1)
      return AppPlaces(refusal) { own, counts in
        let free = maximum - counts.values.reduce(0, +)
        let waiting = appCount - counts.count - (own == 0 ? 1 : 0)
        return own == 0 ? free > 0 : free > min(waiting, maximum / 2)
      }
    }

    /// The places for event streams, as many for each app.
    static func eventStreams(maximum: Int) -> AppPlaces {
      let refusal = Problem(
        .tooManyRequests, "too-many-streams",
        "The app has \(maximum) event streams, as many as it may. Close some, or read changes without streams.",
        retryAfter: 1)
      return AppPlaces(refusal) { own, _ in own < maximum }
    }

    /// A place, which is freed when it is released: after the response is written or dropped.
    final class Place: Sendable {
      private let places: AppPlaces
      private let app: String

      fileprivate init(_ places: AppPlaces, _ app: String) {
        self.places = places
        self.app = app
      }

      deinit { places.giveBack(app) }
    }

    /// Takes a place, or throws if the app cannot get one now.
    func take(for app: String) throws(Problem) -> Place {
      let isTaken = counts.withLock { counts in
        guard isFree(counts[app] ?? 0, counts) else { return false }
        counts[app, default: 0] += 1
        return true
      }
      guard isTaken else { throw refusal }
      return Place(self, app)
    }

    private func giveBack(_ app: String) {
      counts.withLock { counts in
        let count = (counts[app] ?? 1) - 1
        counts[app] = count > 0 ? count : nil
      }
    }
  }
#endif
