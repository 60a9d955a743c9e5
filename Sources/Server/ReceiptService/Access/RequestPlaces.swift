// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Synchronization

  /// A limit on the number of requests that are served at once.
  final class RequestPlaces: Sendable {
    private let maximum: Int
    private let count = Atomic<Int>(0)

    init(maximum: Int) { self.maximum = maximum }

    /// Takes a place.
    ///
    /// - Throws: ``Problem`` if all places are taken.
    func take() throws(Problem) {
      guard count.add(1, ordering: .relaxed).newValue <= maximum else {
        giveBack()
        throw Problem(
          .serviceUnavailable, "overloaded", "Too many requests are being served. Try again.", retryAfter: 1)
      }
    }

    /// Gives a place back.
    func giveBack() { count.subtract(1, ordering: .relaxed) }
  }
#endif
