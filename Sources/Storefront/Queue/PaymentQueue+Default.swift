// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension PaymentQueue {
  private struct Default: Sendable {
    var queue: PaymentQueue?
    var warn: @Sendable (String) -> Void = { _ in }
  }

  private static let shared = Mutex(Default())

  /// The queue that the whole app shares (`defaultQueue`); `nil` until ``configureDefault(_:)`` has said which. Asking
  /// before that is a mistake in the order of the app's launch, and gives a warning.
  public static var `default`: PaymentQueue? {
    let state = shared.withLock { $0 }
    if state.queue == nil {
      state.warn("PaymentQueue.default was asked for before PaymentQueue.configureDefault(_:) was called.")
    }
    return state.queue
  }

  /// Says which queue the whole app shares. Libraries make queues of their own, or take one.
  ///
  /// - Parameter queue: The queue; `nil` for none.
  public static func configureDefault(_ queue: PaymentQueue?) { shared.withLock { $0.queue = queue } }

  /// Says who takes the warning that the default queue was asked for before there was one.
  ///
  /// - Parameter log: Takes a line for people.
  public static func logDefaultWarnings(to log: @escaping @Sendable (String) -> Void) {
    shared.withLock { $0.warn = log }
  }
}
