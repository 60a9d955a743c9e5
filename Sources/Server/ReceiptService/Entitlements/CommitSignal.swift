// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// Resumes waiters when this process commits something.
  ///
  /// Commits of other processes are found by polling the database.
  package final class CommitSignal: Sendable {
    private struct State {
      var count = 0
      var nextWaiter = 0
      var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
      var followers: [CommitSignal] = []
    }

    private let state = Mutex(State())

    /// The number of signalled commits.
    package var count: Int { state.withLock { $0.count } }

    /// Resumes all waiters.
    package func signal() {
      let (waiters, followers) = state.withLock { state in
        state.count += 1
        defer { state.waiters = [:] }
        return (state.waiters.values, state.followers)
      }
      for waiter in waiters { waiter.resume() }
      for follower in followers { follower.signal() }
    }

    /// Adds another signal, which is signalled with this one from now on.
    ///
    /// This one retains it.
    package func add(_ follower: CommitSignal) { state.withLock { $0.followers.append(follower) } }

    /// Waits until more commits than `count` were signalled, the time is over, or the task is cancelled.
    package func wait(beyond count: Int, atMost duration: Duration) async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await self.wait(beyond: count) }
        group.addTask { try? await Task.sleep(for: duration) }
        await group.next()
        group.cancelAll()
      }
    }

    private func wait(beyond count: Int) async {
      let id = state.withLock { state in
        state.nextWaiter += 1
        return state.nextWaiter
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isOver = state.withLock { state in
            guard state.count == count, !Task.isCancelled else { return true }
            state.waiters[id] = continuation
            return false
          }
          if isOver { continuation.resume() }
        }
      } onCancel: {
        wake(id)
      }
    }

    private func wake(_ id: Int) { state.withLock { $0.waiters.removeValue(forKey: id) }?.resume() }
  }
#endif
