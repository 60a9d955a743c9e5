// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

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
