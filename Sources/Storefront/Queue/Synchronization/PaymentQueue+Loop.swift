// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  /// Whether somebody watches.
  package var isWatched: Bool { fault == nil && (!mailboxes.isEmpty || !purchases.isEmpty) }

  /// Begins to speak with the store, if somebody watches.
  func startSynchronizing() {
    guard isWatched, synchronization.loop == nil else { return }
    synchronization.loop = Task { await self.synchronizeWhileWatched() }
  }

  /// Has the loop go on where it waits for something to do, but not where it leaves the store alone after a failure.
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
        if case .queue(let fault) = error, fault.endsTheQueue { break }
        // Where the store answers at all, one thing that it does not answer is no reason for long waits.
        failures = synchronization.progress == before ? failures + 1 : 1
        let delay = options.delay(afterFailures: failures, asked: error.retryAfter)
        options.log("\(error.description); trying again in \(delay)")
        await pause(delay, isInterruptible: false)
      }
    }
    synchronization.loop = nil
  }

  /// Waits, and says whether it was for as long as was wanted.
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
  /// How long the store wants to be left alone.
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
