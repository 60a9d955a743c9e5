// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  /// Whether the queue is observed.
  package var isWatched: Bool { fault == nil && (!mailboxes.isEmpty || !purchases.isEmpty) }

  /// Whether the loop has anything to do. For a queue that is not observed it only sends finishes.
  private var isLoopNeeded: Bool { isWatched || fault == nil && !synchronization.toFinish.isEmpty }

  /// Starts the synchronization loop, if it is needed.
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
          // The next observer needs all that happened meanwhile.
          isFull = true
          try await sendFinishes { self.fault == nil }
        }
        failures = 0
        if synchronization.hasWork { continue }
        if await pause(options.synchronizationInterval, isInterruptible: true) { isFull = true }
      } catch {
        if case .queue(let fault) = error, fault.isFatal { break }
        // Only consecutive failures increase the delay: a store that answers other requests is reachable.
        failures = synchronization.progress == before ? failures + 1 : 1
        let delay = options.delay(afterFailures: failures, asked: error.retryAfter)
        options.log("\(error.description); trying again in \(delay)")
        await pause(delay, isInterruptible: false)
      }
    }
    synchronization.listener?.cancel()
    synchronization.listener = nil
    synchronization.loop = nil
  }

  /// Subscribes to the store's signals. This precedes the first fetch, so that no change is missed between them.
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

  /// Waits, and returns whether the whole duration elapsed.
  @discardableResult
  private func pause(_ duration: Duration, isInterruptible: Bool) async -> Bool {
    guard isLoopNeeded else { return false }
    synchronization.pauseCount += 1
    let number = synchronization.pauseCount
    let sleep = options.time.sleep
    let timer = Task {
      try? await sleep(duration)
      self.endPause(number)
    }
    await withCheckedContinuation {
      synchronization.pause = SynchronizationState.Pause(
        continuation: $0, number: number, isInterruptible: isInterruptible, isObserved: isWatched)
    }
    let isOver = synchronization.lastPauseOver == number
    timer.cancel()
    return isOver
  }

  private func endPause(_ number: UInt64) {
    guard synchronization.pause?.number == number else { return }
    synchronization.lastPauseOver = number
    endPause()
  }

  private func endPause() {
    let pause = synchronization.pause
    synchronization.pause = nil
    pause?.continuation.resume()
  }
}

extension SynchronizationFault {
  /// The delay that the store asked for.
  var retryAfter: Duration? {
    if case .store(let unavailable) = self { unavailable.retryAfter } else { nil }
  }

  var description: String {
    switch self {
    case .store(let unavailable): unavailable.description
    case .queue(let fault): fault.description
    }
  }
}
