// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Runs work that blocks its thread, for tasks that must not block theirs.
package enum BlockingWork {
  private static let queue = DispatchQueue(label: "receiptkit.blocking-work", attributes: .concurrent)

  /// Runs work on a thread that no task shares, and waits for its result.
  package static func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Result { () throws(Failure) in try work() }) }
    }
    return try result.get()
  }
}

/// Runs tasks on a dispatch queue of their own, one step at a time. It is for work that takes milliseconds and that
/// nothing on an event loop waits for.
///
///     await withTaskExecutorPreference(executor) { … }
package final class SerialTaskExecutor: TaskExecutor {
  private let queue: DispatchQueue

  /// Creates an executor.
  package init(label: String) { queue = DispatchQueue(label: label, qos: .utility) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The closure retains the executor while the job runs.
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
