// SPDX-License-Identifier: Apache-2.0

import Storefront
import Testing

/// One test, for there is one default queue.
@Suite struct DefaultQueueTests {
  @Test("SKPaymentQueue: +defaultQueue")
  func isSharedOnceItIsConfigured() throws {
    #expect(PaymentQueue.default == nil)
    let queue = try PaymentQueue(store: FakeStore(), storage: MemoryRecordStorage())
    PaymentQueue.configureDefault(queue)
    #expect(PaymentQueue.default === queue)
    #expect(PaymentQueue.default === queue)
    PaymentQueue.configureDefault(nil)
    #expect(PaymentQueue.default == nil)
  }
}
