// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension PaymentQueue {
  private struct Default: Sendable {
    var queue: PaymentQueue?
    var warn: @Sendable (String) -> Void = { _ in }
  }

  private static let shared = Mutex(Default())

  /// The shared queue of the app (`defaultQueue`); `nil` until ``configureDefault(_:)`` sets it. Reading it earlier is
  /// a mistake in the launch order, and logs a warning.
  public static var `default`: PaymentQueue? {
    let state = shared.withLock { $0 }
    if state.queue == nil {
      state.warn("PaymentQueue.default was asked for before PaymentQueue.configureDefault(_:) was called.")
    }
    return state.queue
  }

  /// Sets the shared queue of the app. Libraries should create their own or take one as a parameter.
  ///
  /// - Parameter queue: The queue; `nil` for none.
  public static func configureDefault(_ queue: PaymentQueue?) { shared.withLock { $0.queue = queue } }

  /// Sets the log for the warning that the default queue was read before it was set.
  ///
  /// - Parameter log: Receives the warning.
  public static func logDefaultWarnings(to log: @escaping @Sendable (String) -> Void) {
    shared.withLock { $0.warn = log }
  }
}
