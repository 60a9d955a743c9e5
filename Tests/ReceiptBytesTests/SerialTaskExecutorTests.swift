// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import Synchronization
import Testing

@Suite("Executor of one thread")
struct SerialTaskExecutorTests {
  @Test("Steps of tasks run one at a time, and all of them")
  func oneAtATime() async {
    let executor = SerialTaskExecutor(label: "test")
    let running = Atomic(0)
    let most = Atomic(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask(executorPreference: executor) {
          for _ in 0..<10 {
            let count = running.add(1, ordering: .sequentiallyConsistent).newValue
            most.max(count, ordering: .sequentiallyConsistent)
            running.subtract(1, ordering: .sequentiallyConsistent)
            await Task.yield()
          }
        }
      }
    }
    #expect(most.load(ordering: .sequentiallyConsistent) == 1)
    #expect(running.load(ordering: .sequentiallyConsistent) == 0)
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
