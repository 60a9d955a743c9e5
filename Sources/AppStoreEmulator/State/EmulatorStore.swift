// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Holds what the endpoints know besides purchases. Changes are atomic and do not overlap.
public final class EmulatorStore: Sendable {
  private let state = Mutex(EmulatorState())

  /// Creates a store without anything in it.
  public init() {}

  /// Reads or changes the state. If the closure throws, its changes up to then are kept.
  public func withState<Result: Sendable>(_ body: (inout EmulatorState) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(&state) }
  }

  /// Reads or changes the state for an endpoint, whose errors are typed.
  func change<Value: Sendable>(
    _ body: (inout EmulatorState) throws(EmulatorError) -> Value
  ) throws(EmulatorError) -> Value {
    let result = withState { state -> Result<Value, EmulatorError> in
      do throws(EmulatorError) { return .success(try body(&state)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
