// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptHTTP
import Synchronization

/// Time that stands still, except that sleeping moves it on at once.
final class ManualTime: Sendable {
  private struct State {
    let start: Timestamp
    var elapsed: Duration = .zero
    var sleeps: [Duration] = []
    var random: Double
  }

  private let state: Mutex<State>

  init(_ start: Timestamp = Timestamp(secondsSince1970: 1_700_000_000), random: Double = 0.5) {
    state = Mutex(State(start: start, random: random))
  }

  /// The time of day.
  var now: Timestamp {
    state.withLock { $0.start.addingSeconds($0.elapsed / .seconds(1)) }
  }

  /// The duration of each sleep, in order.
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  /// Sets the random number that is returned from now on.
  func setRandom(_ value: Double) { state.withLock { $0.random = value } }

  func advance(by duration: Duration) { state.withLock { $0.elapsed += duration } }

  /// The clocks and dice as remote calls take them.
  var remoteTime: RemoteTime {
    RemoteTime(
      now: { self.now }, elapsed: { self.state.withLock { $0.elapsed } },
      sleep: { duration in
        try Task.checkCancellation()
        self.state.withLock {
          $0.sleeps.append(duration)
          $0.elapsed += duration
        }
      },
      random: { self.state.withLock { $0.random } })
  }
}
