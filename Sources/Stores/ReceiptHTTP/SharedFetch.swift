// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import Synchronization

#if THREAD_SANITIZER
  internal import ThreadSanitizing
#endif

/// A value that is fetched when it is needed and shared by all tasks until it must be fetched anew: an access token, a
/// set of keys. One request is under way at a time, for all tasks that wait.
package final class SharedFetch<Value: Sendable, Failure: Error & Sendable>: Sendable {
  /// A value, and until when it may be used.
  package struct Held: Sendable {
    package let value: Value
    package let obtainedAt: Timestamp
    package let usableUntil: Timestamp

    package init(_ value: Value, obtainedAt: Timestamp, usableUntil: Timestamp) {
      self.value = value
      self.obtainedAt = obtainedAt
      self.usableUntil = usableUntil
    }
  }

  package typealias Outcome = Result<Held, Failure>

  private struct State {
    var held: Held?
    /// The last failure, and the time that passed until it is forgotten.
    var failure: (Failure, until: Duration)?
    var waiting: [FirstResult<Outcome>]?
  }

  private let state = Mutex(State())
  private let time: RemoteTime
  private let failureLifetime: Duration
  private let cancelled: Failure
  private let fetch: @Sendable () async -> Outcome

  /// - Parameters:
  ///   - time: Clocks.
  ///   - failureLifetime: For how long a failure is the outcome of every request, without another fetch.
  ///   - cancelled: What a task gets that is cancelled while it waits; the fetch goes on for the others.
  ///   - fetch: Fetches the value.
  package init(
    time: RemoteTime, failureLifetime: Duration = .zero, cancelled: Failure,
    fetch: @escaping @Sendable () async -> Outcome
  ) {
    self.time = time
    self.failureLifetime = failureLifetime
    self.cancelled = cancelled
    self.fetch = fetch
  }

  /// The value: the one that is held, if it is usable and was obtained after an instant, else one that is fetched.
  package func held(obtainedAfter oldest: Timestamp? = nil) async throws(Failure) -> Held {
    let now = time.now()
    let first = FirstResult<Outcome>()
    let (known, begins) = state.withLock { state -> (Outcome?, Bool) in
      // What a clock that was set back since calls obtained in the future may be past its end.
      if let held = state.held, held.obtainedAt <= now, now < held.usableUntil,
        oldest.map({ held.obtainedAt > $0 }) ?? true
      {
        return (.success(held), false)
      }
      if let (failure, until) = state.failure, time.elapsed() < until { return (.failure(failure), false) }
      let begins = state.waiting == nil
      state.waiting = (state.waiting ?? []) + [first]
      return (nil, begins)
    }
    if let known { return try known.get() }
    if begins { Task { self.end(await self.fetch()) } }
    return try await first.value(ifCancelled: .failure(cancelled)).get()
  }

  /// Drops the value that is held where it is the one given.
  package func forget(_ isRefused: (Value) -> Bool) {
    state.withLock { state in
      if let held = state.held, isRefused(held.value) { state.held = nil }
    }
  }

  private func end(_ outcome: Outcome) {
    let waiting = state.withLock { state in
      switch outcome {
      case .success(let held):
        state.held = held
        state.failure = nil
      case .failure(let failure): state.failure = (failure, time.elapsed() + failureLifetime)
      }
      defer { state.waiting = nil }
      return state.waiting ?? []
    }
    for first in waiting { first.deliver(outcome) }
  }
}
