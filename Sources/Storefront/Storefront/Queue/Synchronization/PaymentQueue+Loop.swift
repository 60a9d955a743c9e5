// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  package var isWatched: Bool { fault == nil && (!mailboxes.isEmpty || !purchases.isEmpty) }

  /// `true` if the loop has work. If the queue is not observed, the loop only sends finishes.
  private var isLoopNeeded: Bool { isWatched || fault == nil && !synchronization.toFinish.isEmpty }

  func startSynchronizing() {
    guard isLoopNeeded else { return }
    if synchronization.loop == nil {
      synchronization.loop = Task { await self.synchronizeWhileNeeded() }
    } else if isWatched, synchronization.pause?.isObserved == false {
      // An observer does not wait for the retry of a finish.
      endPause()
    }
  }

  /// Resumes the loop if it is idle, but not if it is backing off after a failure.
  func wake() {
    if synchronization.pause?.isInterruptible == true || !isLoopNeeded { endPause() }
  }

  func wakeIfUnwatched() {
    if !isWatched { wake() }
  }

  private func synchronizeWhileNeeded() async {
    var failures = 0
    var isFull = true
    while isLoopNeeded {
      let before = synchronization.progress
      do {
        if isWatched {
          await listen()
          isFull = isFull || synchronization.isStale
          synchronization.isStale = false
          try await synchronize(fully: isFull) { self.isWatched }
          isFull = false
        } else {
          // The next observer needs everything that happened meanwhile.
          isFull = true
          try await sendFinishes { self.fault == nil }
        }
        failures = 0
        if synchronization.hasWork { continue }
        if await pause(options.synchronizationInterval, isInterruptible: true) { isFull = true }
      } catch {
        if error.isFatal { break }
        // Only consecutive failures increase the delay. A store that answers other requests is reachable.
        failures = synchronization.progress == before ? failures + 1 : 1
        let delay = options.delay(afterFailures: failures, asked: synchronization.retryAfter)
        synchronization.retryAfter = nil
        options.log("\(error); trying again in \(delay)")
        await pause(delay, isInterruptible: false)
      }
    }
    synchronization.listener?.cancel()
    synchronization.listener = nil
    synchronization.loop = nil
  }

  /// Subscribes to the store's signals, before the first fetch, so that no change is missed in between.
  private func listen() async {
    guard synchronization.listener == nil, let changes = await store.changes() else { return }
    synchronization.listener = Task { [weak self] in
      for await _ in changes { await self?.storeChanged() }
    }
  }

  private func storeChanged() {
    synchronization.isStale = true
    wake()
  }

  /// Waits, and returns `true` if the whole duration elapsed.
  @discardableResult
  private func pause(_ duration: Duration, isInterruptible: Bool) async -> Bool {
    guard isLoopNeeded else { return false }
    let isOver = FirstResult<Bool>()
    synchronization.pause = SynchronizationState.Pause(
      isOver: isOver, isInterruptible: isInterruptible, isObserved: isWatched)
    let timer = Task { [sleep = options.time.sleep] in
      try? await sleep(duration)
      isOver.deliver(true)
    }
    defer {
      timer.cancel()
      synchronization.pause = nil
    }
    return await isOver.value
  }

  private func endPause() { synchronization.pause?.isOver.deliver(false) }
}

extension SynchronizationState {
  var hasWork: Bool { !toSend.isEmpty || !toFinish.isEmpty || isStale }
}

/// A fair asynchronous lock around requests to the store. The answer to a request is applied before the next request
/// is sent. So no list of sales in flight is older than a finish that was sent meanwhile.
struct StoreRequestLock {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  mutating func takeIfFree() -> Bool {
    defer { isTaken = true }
    return !isTaken
  }

  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) { waiting.append(continuation) }

  /// Releases the lock to the longest waiter.
  mutating func end() {
    if waiting.isEmpty {
      isTaken = false
    } else {
      waiting.removeFirst().resume()
    }
  }
}

extension PaymentQueue {
  func withRequestLock<Result, Failure>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if !requestLock.takeIfFree() {
      await withCheckedContinuation { requestLock.wait($0) }
    }
    defer { requestLock.end() }
    return try await body()
  }
}
