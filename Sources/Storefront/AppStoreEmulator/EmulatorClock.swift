// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification
internal import Synchronization

/// The time of an emulated App Store: real time, faster, or stopped until it is advanced. It never goes back.
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
  ///   - start: The initial time.
  ///   - rate: The number of its seconds that pass in one second: 1 for real time, 0 for a stopped clock.
  public init(at start: Timestamp = SystemClock.now(), rate: Double = 1) {
    state = Mutex(State(base: start, anchor: .now, rate: max(0, rate)))
  }

  /// The time now.
  public var now: Timestamp { state.withLock { $0.now() } }

  package var rate: Double {
    get { state.withLock { $0.rate } }
    set {
      state.withLock { state in
        state = State(base: state.now(), anchor: .now, rate: max(0, newValue))
      }
    }
  }

  /// Adds another store that uses this clock. If either store is asked to advance the clock, the events of both take
  /// place at their own dates.
  package func add(_ follower: any ClockFollower) { followers.withLock { $0.append(follower) } }

  /// Performs everything that is due up to a time, and then sets the clock to that time.
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

/// A store that uses an ``EmulatorClock``.
package protocol ClockFollower: Sendable {
  /// The date on which the next work becomes due; `nil` without such work.
  func nextDueDate() async throws -> Timestamp?
  func performDue() async throws
}

extension ClockFollower {
  /// Performs everything as it becomes due, until the task is cancelled. A repeated error is reported once.
  package func performWhenDue(_ report: (any Error) -> Void = { _ in }) async {
    var reported: String?
    while !Task.isCancelled {
      do {
        try await performDue()
        reported = nil
      } catch {
        if reported != "\(error)" { report(error) }
        reported = "\(error)"
      }
      try? await Task.sleep(for: .milliseconds(50))
    }
  }
}
