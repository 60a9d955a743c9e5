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
  private let followers = Mutex<[any ClockFollower]>([])

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

  /// The number of its seconds that pass in one.
  public var rate: Double {
    get { state.withLock { $0.rate } }
    set {
      state.withLock { state in
        state = State(base: state.now(), anchor: .now, rate: max(0, newValue))
      }
    }
  }

  /// Lets a store live by this clock too: whichever store is asked to advance it, everything of both happens at its own
  /// time.
  package func add(_ follower: any ClockFollower) { followers.withLock { $0.append(follower) } }

  /// Performs everything that is due up to a time, and sets the clock to it.
  package func pass(until target: Timestamp, for follower: any ClockFollower) async throws {
    let all = [follower] + followers.withLock { $0 }
    while true {
      var next: Timestamp?
      for follower in all {
        if let date = try await follower.nextDueDate() { next = min(next ?? date, date) }
      }
      guard let next, next <= target else { break }
      advance(to: next)
      for follower in all { try await follower.performDue() }
    }
    advance(to: target)
    for follower in all { try await follower.performDue() }
  }

  /// Sets the clock forward. An earlier time has no effect.
  public func advance(to time: Timestamp) {
    state.withLock { state in
      let now = state.now()
      state = State(base: max(now, time), anchor: .now, rate: state.rate)
    }
  }
}

/// A store that lives by a clock.
package protocol ClockFollower: Sendable {
  /// The date of the next thing that becomes due; `nil` without one.
  func nextDueDate() async throws -> Timestamp?
  /// Performs what is due now.
  func performDue() async throws
}
