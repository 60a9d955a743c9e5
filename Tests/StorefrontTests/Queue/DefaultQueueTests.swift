// SPDX-License-Identifier: Apache-2.0

import Storefront
import Synchronization
import Testing

/// One test, for there is one default queue.
@Suite struct DefaultQueueTests {
  @Test("SKPaymentQueue: +defaultQueue")
  func isSharedOnceItIsConfigured() throws {
    let warnings = Mutex<[String]>([])
    PaymentQueue.logDefaultWarnings { line in warnings.withLock { $0.append(line) } }
    defer { PaymentQueue.logDefaultWarnings { _ in } }
    #expect(PaymentQueue.default == nil)
    #expect(warnings.withLock { $0.count } == 1)
    let queue = try PaymentQueue(store: FakeStore(), storage: MemoryRecordStorage())
    PaymentQueue.configureDefault(queue)
    #expect(PaymentQueue.default === queue)
    #expect(PaymentQueue.default === queue)
    PaymentQueue.configureDefault(nil)
    #expect(warnings.withLock { $0.count } == 1)
    #expect(PaymentQueue.default == nil)
    #expect(warnings.withLock { $0.count } == 2)
  }
}
