// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The storage of an emulated App Store's state.
///
/// Changes are atomic and do not overlap. If the closure throws, its changes up to then are kept.
public protocol EmulatorStore: Sendable {
  /// Reads or changes the state.
  func withState<Result: Sendable>(_ body: (inout EmulatorState) throws -> Result) rethrows -> Result
}

/// Keeps the state in memory.
public final class MemoryEmulatorStore: EmulatorStore {
  private let state: Mutex<EmulatorState>

  /// Creates a store, empty by default.
  public init(_ state: EmulatorState = EmulatorState()) { self.state = Mutex(state) }

  /// Reads or changes the state.
  public func withState<Result: Sendable>(_ body: (inout EmulatorState) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(&state) }
  }
}
