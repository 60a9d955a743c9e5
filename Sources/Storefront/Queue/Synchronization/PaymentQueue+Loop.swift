// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  /// Whether the queue is observed.
  package var isWatched: Bool { fault == nil && (!mailboxes.isEmpty || !purchases.isEmpty) }

  /// Starts the synchronization loop, if the queue is observed.
  func startSynchronizing() {
    guard isWatched, synchronization.loop == nil else { return }
    synchronization.loop = Task { await self.synchronizeWhileWatched() }
  }

  /// Resumes the loop if it is idle, but not if it is backing off after a failure.
  func wake() {
    guard let pause = synchronization.pause, pause.isInterruptible || !isWatched else { return }
    synchronization.pause = nil
    pause.continuation.resume()
  }

  func wakeIfUnwatched() {
    if !isWatched { wake() }
  }

  private func synchronizeWhileWatched() async {
    var failures = 0
    var isFull = true
    while isWatched {
      let before = synchronization.progress
      do {
        try await synchronize(fully: isFull) { self.isWatched }
        failures = 0
        isFull = false
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
    synchronization.loop = nil
  }

  /// Waits, and returns whether the whole duration elapsed.
  @discardableResult
  private func pause(_ duration: Duration, isInterruptible: Bool) async -> Bool {
    guard isWatched else { return false }
    synchronization.pauseCount += 1
    let number = synchronization.pauseCount
    let sleep = options.time.sleep
    let timer = Task {
      try? await sleep(duration)
      self.endPause(number)
    }
    await withCheckedContinuation { synchronization.pause = ($0, number, isInterruptible) }
    let isOver = synchronization.lastPauseOver == number
    timer.cancel()
    return isOver
  }

  private func endPause(_ number: UInt64) {
    guard let pause = synchronization.pause, pause.number == number else { return }
    synchronization.pause = nil
    synchronization.lastPauseOver = number
    pause.continuation.resume()
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
