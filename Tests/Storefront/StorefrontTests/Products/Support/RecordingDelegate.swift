// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storefront

/// A delegate that records its calls.
actor RecordingDelegate: ProductsRequestDelegate {
  enum Event: Sendable, Hashable {
    case received(ProductsResponse)
    case finished
    case failed(StoreError)
  }

  private(set) var events: [Event] = []
  private var watchers: [(count: Int, CheckedContinuation<Void, Never>)] = []
  private let onReceive: @Sendable (ProductsRequest) async -> Void

  init(onReceive: @escaping @Sendable (ProductsRequest) async -> Void = { _ in }) {
    self.onReceive = onReceive
  }

  func productsRequest(_ request: ProductsRequest, didReceive response: ProductsResponse) async {
    note(.received(response))
    await onReceive(request)
  }

  func requestDidFinish(_ request: ProductsRequest) async { note(.finished) }

  func request(_ request: ProductsRequest, didFailWith error: StoreError) async { note(.failed(error)) }

  private func note(_ event: Event) {
    events.append(event)
    for (count, watcher) in watchers where events.count >= count { watcher.resume() }
    watchers.removeAll { $0.count <= events.count }
  }

  /// Waits for a number of calls.
  func wait(for count: Int) async {
    if events.count >= count { return }
    await withCheckedContinuation { watchers.append((count, $0)) }
  }
}

/// Lines of a log, from any thread.
final class Lines: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []

  var all: [String] { lock.withLock { lines } }
  var log: @Sendable (String) -> Void { { line in self.lock.withLock { self.lines.append(line) } } }
}

/// Lets other tasks run.
func letOtherTasksRun() async {
  for _ in 0..<50 { await Task.yield() }
  try? await Task.sleep(for: .milliseconds(2))
}
