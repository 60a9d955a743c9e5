// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Synchronization
import Testing

@Suite("Executor of one thread")
struct SerialTaskExecutorTests {
  private final class Counts: Sendable {
    private let counts = Mutex((running: 0, most: 0, steps: 0))

    func step() {
      counts.withLock {
        $0.running += 1
        $0.most = max($0.most, $0.running)
        $0.steps += 1
      }
      counts.withLock { $0.running -= 1 }
    }

    var result: (most: Int, steps: Int) { counts.withLock { ($0.most, $0.steps) } }
  }

  @Test("Steps of tasks run one at a time, and all of them")
  func oneAtATime() async {
    let executor = SerialTaskExecutor(label: "test")
    let counts = Counts()
    let tasks = (0..<20).map { _ in
      Task(executorPreference: executor) {
        for _ in 0..<10 {
          counts.step()
          await Task.yield()
        }
      }
    }
    for task in tasks { await task.value }
    #expect(counts.result.most == 1)
    #expect(counts.result.steps == 200)
  }

  @Test("What an executor was preferred for returns and throws as without it")
  func results() async throws {
    struct Failure: Error {}
    let executor = SerialTaskExecutor(label: "test")
    let value = await withTaskExecutorPreference(executor) {
      await Task.yield()
      return 7
    }
    #expect(value == 7)
    await #expect(throws: Failure.self) {
      try await withTaskExecutorPreference(executor) { () async throws -> Void in throw Failure() }
    }
  }
}
