// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension EmulatorState {
  /// Creates an empty state with a notification URL.
  package init(notificationURL: String? = nil) {
    self.init(notificationURL: notificationURL, defaultNotificationURL: notificationURL)
  }
}

/// A value that several tasks read and change. Changes are atomic and do not overlap.
package final class Shared<State: Sendable>: Sendable {
  private let state: Mutex<State>

  package init(_ state: State) { self.state = Mutex(state) }

  /// Reads or changes the state. If the closure throws, its earlier changes are kept.
  package func withState<Result: Sendable>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(&state) }
  }
}
