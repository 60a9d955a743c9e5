// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import Synchronization

#if THREAD_SANITIZER
  internal import Locking
#endif

/// A value that is fetched when needed and shared by all tasks until it expires, such as an access token or a set of
/// keys. At most one fetch is under way at a time, for all waiting tasks.
package final class SharedFetch<Value: Sendable, Failure: Error & Sendable>: Sendable {
  package typealias Outcome = Result<Held, Failure>

  private struct State {
    var held: Held?
    /// The last failure, and the elapsed time until which it is remembered.
    var failure: (Failure, until: Duration)?
    var waiting: [FirstResult<Outcome>]?
  }

  private let state = Mutex(State())
  private let time: RemoteTime
  private let failureLifetime: Duration
  private let cancelled: Failure
  private let fetch: @Sendable () async -> Outcome

  /// - Parameters:
  ///   - time: The clocks.
  ///   - failureLifetime: The time during which a failure is returned to every task, without another fetch.
  ///   - cancelled: The error for a task that is cancelled while it waits; the fetch goes on for the others.
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

  /// Returns the held value if it is usable and was obtained after an instant; otherwise fetches one.
  package func held(obtainedAfter oldest: Timestamp? = nil) async throws(Failure) -> Held {
    let now = time.now()
    let first = FirstResult<Outcome>()
    let (known, begins) = state.withLock { state -> (Outcome?, Bool) in
      // If the clock was set back since, the value was obtained in the future and may have expired.
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

  /// Drops the held value if it satisfies the condition.
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
