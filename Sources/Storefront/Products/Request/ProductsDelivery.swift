// SPDX-License-Identifier: Apache-2.0

/// Forwards calls to a delegate until it is closed. The caller of ``close()`` can wait for the call in progress;
/// afterwards no call begins or runs, on any thread or actor.
actor ProductsDelivery {
  private var isClosed = false
  private var isDelivering = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// The deliveries whose calls the current task runs in: a call that closes its own delivery must not wait for itself.
  @TaskLocal private static var current: [ProductsDelivery] = []

  /// Makes the call, unless closed. Calls do not overlap.
  func perform(_ call: @Sendable () async -> Void) async {
    guard !isClosed else { return }
    isDelivering = true
    await Self.$current.withValue(Self.current + [self]) { await call() }
    isDelivering = false
    let resumed = waiting
    waiting = []
    for continuation in resumed { continuation.resume() }
  }

  /// Prevents further calls.
  func close() { isClosed = true }

  /// Waits for the call in progress, unless this is called from within it.
  func ended() async {
    guard isDelivering, !Self.current.contains(where: { $0 === self }) else { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}
