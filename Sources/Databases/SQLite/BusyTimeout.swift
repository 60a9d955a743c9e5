// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#else
  internal import Darwin
#endif
internal import Synchronization

/// The time a connection waits for the locks of others. SQLite has no queue for its locks, so it retries repeatedly.
package final class BusyTimeout: Sendable {
  private let state: Mutex<State>

  private struct State {
    var limit: Duration
    var start = ContinuousClock.now
  }

  package init(_ limit: Duration) { state = Mutex(State(limit: limit)) }

  package var duration: Duration { state.withLock { $0.limit } }

  /// Sleeps briefly before the next try; `false` if the time is over.
  package func wait(afterTries tries: Int) -> Bool {
    let continues = state.withLock { state in
      if tries == 0 { state.start = .now }
      return ContinuousClock.now - state.start < state.limit
    }
    if continues { Self.sleep(microseconds: UInt32(min(500 + tries * 250, 10_000))) }
    return continues
  }

  /// Runs `body` with a timeout of zero.
  package func disabled<Result>(_ body: () throws -> Result) rethrows -> Result {
    let limit = state.withLock { state in
      defer { state.limit = .zero }
      return state.limit
    }
    defer { state.withLock { $0.limit = limit } }
    return try body()
  }

  package static func sleep(microseconds: UInt32) { _ = usleep(microseconds) }
}

package struct ThreadIdentifier: Sendable, Hashable {
  private let number: UInt

  package static var current: ThreadIdentifier {
    #if canImport(Darwin)
      ThreadIdentifier(number: UInt(bitPattern: pthread_self()))
    #else
      ThreadIdentifier(number: UInt(pthread_self()))
    #endif
  }
}
