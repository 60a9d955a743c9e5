// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Dispatch

  /// Runs the pages of the console, on one thread of their own: while an event loop renders a page it answers nobody.
  final class ConsoleExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "receipt-kit.console", qos: .utility)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // The closure keeps the executor alive while the job runs.
      queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
#endif
