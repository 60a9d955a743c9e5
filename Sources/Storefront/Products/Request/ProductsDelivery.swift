// SPDX-License-Identifier: Apache-2.0

/// Lets the calls of a delegate through until it is closed. The closer can wait for the call in progress, so
/// that afterwards no call begins or runs, on any thread or actor.
actor ProductsDelivery {
  private var isClosed = false
  private var isDelivering = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// The deliveries that the current task is inside of; a call that closes its own delivery must not wait for itself.
  @TaskLocal private static var current: [ProductsDelivery] = []

  /// Makes the call, unless it is closed. There is one at a time.
  func perform(_ call: @Sendable () async -> Void) async {
    guard !isClosed else { return }
    isDelivering = true
    await Self.$current.withValue(Self.current + [self]) { await call() }
    isDelivering = false
    let resumed = waiting
    waiting = []
    for continuation in resumed { continuation.resume() }
  }

  /// From now on no call begins.
  func close() { isClosed = true }

  /// Waits for the call that is under way, if there is one and this is not called from inside of it.
  func ended() async {
    guard isDelivering, !Self.current.contains(where: { $0 === self }) else { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}
