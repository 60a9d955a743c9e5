// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import NIOCore
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
#endif
