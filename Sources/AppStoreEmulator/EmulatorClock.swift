// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification
internal import Synchronization

/// The time of an emulated App Store: real, faster, or standing still until it is advanced. It never goes back.
public final class EmulatorClock: Sendable {
  private struct State {
    var base: Timestamp
    var anchor: ContinuousClock.Instant
    var rate: Double

    func now() -> Timestamp {
      let (seconds, attoseconds) = (ContinuousClock.now - anchor).components
      let elapsed = Double(seconds) + Double(attoseconds) / 1e18
      return Timestamp(
        millisecondsSince1970: (base.millisecondsSince1970 + elapsed * rate * 1000).rounded(.down))
    }
  }

  private let state: Mutex<State>

  /// Creates a clock.
  ///
  /// - Parameters:
  ///   - start: The time that it shows first.
  ///   - rate: How many of its seconds pass in one: 1 for real time, 0 for a clock that stands still.
  public init(at start: Timestamp = SystemClock.now(), rate: Double = 1) {
    state = Mutex(State(base: start, anchor: .now, rate: max(0, rate)))
  }

  /// The time now.
  public var now: Timestamp { state.withLock { $0.now() } }

  /// How many of its seconds pass in one.
  public var rate: Double {
    get { state.withLock { $0.rate } }
    set {
      state.withLock { state in
        state = State(base: state.now(), anchor: .now, rate: max(0, newValue))
      }
    }
  }

  /// Sets the clock forward. An earlier time has no effect.
  public func advance(to time: Timestamp) {
    state.withLock { state in
      let now = state.now()
      state = State(base: max(now, time), anchor: .now, rate: state.rate)
    }
  }
}
