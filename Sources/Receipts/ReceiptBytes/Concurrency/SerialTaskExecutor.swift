// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Runs tasks on a thread of their own, one step at a time: for work that takes milliseconds and that nobody waits for on an
/// event loop.
///
///     await withTaskExecutorPreference(executor) { … }
package final class SerialTaskExecutor: TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter label: The name of its queue in tools.
  package init(label: String) { queue = DispatchQueue(label: label, qos: .utility) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The closure keeps the executor alive while the job runs.
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
