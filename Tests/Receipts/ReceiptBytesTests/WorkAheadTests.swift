// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import ReceiptBytes

@Suite struct WorkAheadTests {
  private func parts(_ count: Int) -> [Range<Int>] {
    stride(from: 0, to: count, by: 8).map { $0..<min($0 + 8, count) }
  }

  private struct Failed: Error, Equatable { let number: Int }

  @Test(arguments: [0, 1, 7, 8, 9, 100]) func `Elements come in order, each made once`(_ count: Int) throws {
    for _ in 0..<50 {
      let made = Made(count)
      let work = WorkAhead(parts(count)) { range in
        made.add(range)
        return Array(range)
      }
      var taken: [Int] = []
      try work.forEach { taken += $0 }
      #expect(taken == Array(0..<count))
      #expect(made.counts == [Int](repeating: 1, count: count))
    }
  }

  @Test func `Of several failing parts the first one's error is thrown, after the elements before it`() {
    for _ in 0..<50 {
      let work = WorkAhead(parts(100)) { range in
        if range.contains(40) || range.contains(80) { throw Failed(number: range.lowerBound) }
        return Array(range)
      }
      var taken: [Int] = []
      #expect(throws: Failed(number: 40)) { try work.forEach { taken += $0 } }
      #expect(taken == Array(0..<40))
    }
  }

  @Test func `The consumer can stop early`() {
    let work = WorkAhead(parts(100)) { Array($0) }
    #expect(throws: Failed(number: 12)) {
      try work.forEach { if $0.contains(12) { throw Failed(number: 12) } }
    }
  }
}

/// How often each element was made.
private final class Made: Sendable {
  private let state: Mutex<[Int]>

  init(_ count: Int) { state = Mutex([Int](repeating: 0, count: count)) }

  func add(_ range: Range<Int>) { state.withLock { for number in range { $0[number] += 1 } } }

  var counts: [Int] { state.withLock { $0 } }
}
