// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ReceiptTesting
import Testing

@testable import AuditTrail

@Suite struct ConcurrentWorkTests {
  @Test("work that no other thread has begun is done by the one that needs its result")
  func withoutAnotherThread() throws {
    // A queue that never gets a thread.
    let queue = DispatchQueue(label: "never", attributes: .initiallyInactive)
    defer { queue.activate() }
    let work = ConcurrentWork(on: queue) { 7 }
    #expect(try work.get() == 7)
    #expect(try work.get() == 7)
    let failing = ConcurrentWork<Int>(on: queue) { throw Refusal() }
    #expect(throws: Refusal.self) { try failing.get() }
  }

  @Test("work that another thread has begun is waited for, and done once")
  func begunElsewhere() throws {
    let queue = DispatchQueue(label: "elsewhere")
    let (isBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let work = ConcurrentWork(on: queue) {
      isBegun.signal()
      mayEnd.wait()
      return 7
    }
    isBegun.wait()
    mayEnd.signal()
    #expect(try work.get() == 7)
    queue.sync {}
    #expect(try work.get() == 7)
  }
}
