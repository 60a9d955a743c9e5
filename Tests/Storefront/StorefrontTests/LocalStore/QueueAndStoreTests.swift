// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import Storefront
import Testing

/// A complete session: a queue with a store in the same process.
@Suite struct QueueAndStoreTests {
  @Test func purchasesAreDeliveredVerifiedFinishedAndRestored() async throws {
    var fixture = StoreFixture()
    // The first answer is lost, and the queue repeats the request.
    fixture.options.faults = [LocalStore.Fault(.purchase, .answerLost)]
    let store = try fixture.store()
    let records = MemoryRecordStorage()
    var options = PaymentQueue.Options()
    options.retryDelays = .milliseconds(1) ... .milliseconds(5)
    let queue = try PaymentQueue(store: store.session(account: "alice"), storage: records, options: options)

    let level = try await queue.purchase(Payment(productIdentifier: "level"))
    #expect(level.transactionState == .purchased)
    let receipt = try StoreFixture.verified(try #require(level.transactionReceipt))
    #expect(receipt.transactionId == level.transactionIdentifier)
    #expect(try await store.purchaseRecord(of: "alice").map(\.charged) == [3000])
    try await queue.finish([level.id])

    let again = try await queue.purchase(Payment(productIdentifier: "level"))
    #expect(again.transactionState == .purchased)
    try await queue.finish([again.id])
    let refused = try await queue.purchase(Payment(productIdentifier: "gone"))
    #expect(refused.error?.code == .storeProductNotAvailable)
    try await queue.finish([refused.id])

    let updates = await queue.updates
    try await queue.synchronize()
    #expect(try await store.purchaseRecord(of: "alice").allSatisfy(\.isFinished))
    try await queue.restoreCompletedTransactions()
    let restored = await queue.transactions.filter { $0.transactionState == .restored }
    #expect(restored.map { $0.originalTransaction?.transactionIdentifier } == [level.transactionIdentifier])
    #expect(try await store.purchaseRecord(of: "alice").map(\.charged) == [3000, 0, 0])
    _ = updates
  }
}
