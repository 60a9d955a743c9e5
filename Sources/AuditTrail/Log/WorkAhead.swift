// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import Synchronization

/// A work that others do part by part, ahead of who takes the parts in order. Who takes a part that nobody has begun
/// does it itself: where all processors have other things to do, nothing waits for them.
final class WorkAhead<Element: Sendable>: Sendable {
  private struct Part {
    var isBegun = false
    var result: Result<[Element], any Error>?
  }

  private let ranges: [Range<Int>]
  private let work: @Sendable (Range<Int>) throws -> [Element]
  private let parts: Mutex<[Part]>
  private let finished: [DispatchSemaphore]

  /// Begins a work.
  ///
  /// - Parameters:
  ///   - count: How many elements it makes.
  ///   - share: How many of them are a part.
  ///   - work: Makes a part of them.
  init(_ count: Int, share: Int = 128, _ work: @escaping @Sendable (Range<Int>) throws -> [Element]) {
    ranges = stride(from: 0, to: count, by: share).map { $0..<min($0 + share, count) }
    self.work = work
    parts = Mutex([Part](repeating: Part(), count: ranges.count))
    finished = ranges.map { _ in DispatchSemaphore(value: 0) }
    let helpers = min(ranges.count, ProcessInfo.processInfo.activeProcessorCount) - 1
    for _ in 0..<max(0, helpers) {
      DispatchQueue.global().async { [self] in for number in ranges.indices { doIfNotBegun(number) } }
    }
  }

  /// Lends all elements, in order.
  ///
  /// - Throws: What a part of the work threw, of several the first; and what `body` throws.
  func forEach(_ body: (Element) throws -> Void) throws {
    for number in ranges.indices {
      doIfNotBegun(number)
      finished[number].wait()
      let result = parts.withLock { $0[number].result.take() }
      for element in try result?.get() ?? [] { try body(element) }
    }
  }

  private func doIfNotBegun(_ number: Int) {
    let isBegun = parts.withLock { parts in
      defer { parts[number].isBegun = true }
      return parts[number].isBegun
    }
    guard !isBegun else { return }
    let result = Result { try work(ranges[number]) }
    parts.withLock { $0[number].result = result }
    finished[number].signal()
  }
}
