// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import Testing

  /// Waiting for commits of this process.
  @Suite struct CommitSignalTests {
    @Test("a commit before, during or never: waiting ends", .timeLimit(.minutes(1)))
    func waiting() async {
      let signal = CommitSignal()
      let count = signal.count
      signal.signal()
      await signal.wait(beyond: count, atMost: .seconds(600))
      let now = signal.count
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<100 { group.addTask { await signal.wait(beyond: now, atMost: .seconds(600)) } }
        group.addTask { signal.signal() }
      }
      #expect(signal.count == now + 1)
      await signal.wait(beyond: signal.count, atMost: .milliseconds(1))
    }

    @Test("waiting ends when the task is cancelled", .timeLimit(.minutes(1)))
    func cancelled() async {
      let signal = CommitSignal()
      let task = Task { await signal.wait(beyond: 0, atMost: .seconds(600)) }
      task.cancel()
      await task.value
    }
  }
#endif
