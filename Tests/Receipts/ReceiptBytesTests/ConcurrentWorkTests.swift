// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import Testing

@testable import ReceiptBytes

@Suite struct ConcurrentWorkTests {
  private struct Failed: Error, Equatable { var number = 0 }

  @Test("work that no other thread has begun is done by the one that needs its result")
  func withoutAnotherThread() throws {
    // A queue that never gets a thread.
    let queue = DispatchQueue(label: "never", attributes: .initiallyInactive)
    defer { queue.activate() }
    let work = ConcurrentWork(on: queue) { 7 }
    #expect(try work.take() == 7)
    let failing = ConcurrentWork<Int>(on: queue) { throw Failed() }
    #expect(throws: Failed.self) { try failing.take() }
  }

  @Test("work that another thread has begun is waited for, and done once")
  func begunElsewhere() throws {
    let queue = DispatchQueue(label: "elsewhere")
    let (isBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let times = Made(1)
    let work = ConcurrentWork(on: queue) {
      times.add(0..<1)
      isBegun.signal()
      mayEnd.wait()
      return 7
    }
    isBegun.wait()
    mayEnd.signal()
    #expect(try work.take() == 7)
    queue.sync {}
    #expect(times.counts == [1])
  }

  // MARK: - Parts

  private func ranges(_ count: Int) -> [Range<Int>] {
    stride(from: 0, to: count, by: 8).map { $0..<min($0 + 8, count) }
  }

  @Test(arguments: [0, 1, 7, 8, 9, 100]) func `Parts come in order, each made once`(_ count: Int) throws {
    for _ in 0..<50 {
      let made = Made(count)
      let parts = ConcurrentWork.parts(ranges(count)) { range in
        made.add(range)
        return Array(range)
      }
      var taken: [Int] = []
      for part in parts { taken += try part.take() }
      #expect(taken == Array(0..<count))
      #expect(made.counts == [Int](repeating: 1, count: count))
    }
  }

  @Test func `Of several failing parts the first one's error is thrown, after the parts before it`() {
    for _ in 0..<50 {
      let parts = ConcurrentWork.parts(ranges(100)) { range in
        if range.contains(40) || range.contains(80) { throw Failed(number: range.lowerBound) }
        return Array(range)
      }
      var taken: [Int] = []
      #expect(throws: Failed(number: 40)) { for part in parts { taken += try part.take() } }
      #expect(taken == Array(0..<40))
    }
  }
}

/// The number of times that each element was made.
private final class Made: Sendable {
  private let state: Mutex<[Int]>

  init(_ count: Int) { state = Mutex([Int](repeating: 0, count: count)) }

  func add(_ range: Range<Int>) { state.withLock { for number in range { $0[number] += 1 } } }

  var counts: [Int] { state.withLock { $0 } }
}
