// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Work that is shared among all processors.
enum AllProcessors {
  /// How many records one processor takes at a time.
  private static let share = 128

  /// Does a work part by part, and puts the results together in order. Little work is done on this thread.
  ///
  /// - Parameters:
  ///   - count: How many records there are.
  ///   - part: Does a part of them.
  /// - Returns: The results.
  /// - Throws: What a part threw, of several the first.
  static func map<Element: Sendable>(
    _ count: Int, _ part: @Sendable (Range<Int>) throws -> [Element]
  ) throws -> [Element] {
    let parts = (count + share - 1) / share
    guard parts > 1 else { return try part(0..<count) }
    let results = Mutex<[Int: Result<[Element], any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: parts) { number in
      let result = Result { try part(number * share..<min((number + 1) * share, count)) }
      results.withLock { $0[number] = result }
    }
    return try results.withLock { results in try (0..<parts).flatMap { try results[$0]?.get() ?? [] } }
  }
}
