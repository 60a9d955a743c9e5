// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Work that is done on another thread while this one does something else.
final class ConcurrentWork<Value: Sendable>: @unchecked Sendable {
  private let group = DispatchGroup()
  /// Set before the group is left, and read after that.
  private var result: Result<Value, any Error>

  /// Begins the work.
  init(_ work: @escaping @Sendable () throws -> Value) {
    result = .failure(CancellationError())
    DispatchQueue.global().async(group: group) { [self] in result = Result(catching: work) }
  }

  /// Work that is done already.
  init(result: Result<Value, any Error>) { self.result = result }

  /// Waits for the end of the work.
  ///
  /// - Returns: What it gave.
  /// - Throws: What it threw.
  func get() throws -> Value {
    group.wait()
    return try result.get()
  }
}
