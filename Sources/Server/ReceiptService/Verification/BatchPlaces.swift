// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// A limit on the number of batches that are verified at once.
  ///
  /// An app gets a second or further place only if enough places stay free: one for each app without a batch, up to
  /// half of all places. The batches of one app therefore do not displace those of all others.
  final class BatchPlaces: Sendable {
    private let maximum: Int
    private let appCount: Int
    private let counts = Mutex<[String: Int]>([:])

    init(maximum: Int, appCount: Int) {
      self.maximum = maximum
      self.appCount = appCount
    }

    /// Takes a place for a batch of an app; `nil` if the app cannot get one now.
    ///
    /// Releasing the object frees the place.
    func take(for app: String) -> Place? {
      let isTaken = counts.withLock { counts in
        let free = maximum - counts.values.reduce(0, +)
        let own = counts[app] ?? 0
        let waiting = appCount - counts.count - (own == 0 ? 1 : 0)
        guard own == 0 ? free > 0 : free > min(waiting, maximum / 2) else { return false }
        counts[app] = own + 1
        return true
      }
      return isTaken ? Place(self, app) : nil
    }

    fileprivate func giveBack(_ app: String) {
      counts.withLock { counts in
        let count = (counts[app] ?? 1) - 1
        counts[app] = count > 0 ? count : nil
      }
    }

    /// A place.
    ///
    /// It is freed when the object is released, after the response is written or dropped.
    final class Place: Sendable {
      private let places: BatchPlaces
      private let app: String

      fileprivate init(_ places: BatchPlaces, _ app: String) {
        self.places = places
        self.app = app
      }
      deinit { places.giveBack(app) }
    }
  }
#endif
