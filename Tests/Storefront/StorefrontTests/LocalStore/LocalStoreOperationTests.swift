// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptTesting
import Storefront
import Testing

/// The operator's interface, and events that are due.
@Suite struct LocalStoreOperationTests {
  private let fixture = StoreFixture()

  @Test func renewalsAreDeliveredAtTheNextCall() async throws {
    let session = try fixture.store().session(account: "alice")
    let bought = try await session.own("gold", request: "1", username: "someone")
    fixture.clock.advance(seconds: 70 * 86_400)
    // A store that was not running meanwhile.
    let store = try fixture.store()
    let page = try await store.session(account: "alice").unfinishedTransactions(after: nil, limit: 9)
    #expect(page.transactions.count == 2)
    for renewal in page.transactions {
      #expect(renewal.requestIdentifier == nil)
      #expect(renewal.payment == bought.payment)
      #expect(renewal.originalTransactionIdentifier == bought.transactionIdentifier)
      let transaction = try StoreFixture.verified(renewal.receipt, at: fixture.clock.now)
      #expect(transaction.transactionReason == .renewal)
    }
    // Each was signed at its own time, not at the restart.
    #expect(page.transactions.map { $0.transactionDate.iso8601.prefix(10) } == ["2025-02-01", "2025-03-01"])
    #expect(try await store.nextDueDate()?.iso8601 == "2025-04-01T00:00:00.000Z")
  }

  @Test func runPerformsDueEventsOnTime() async throws {
    var fixture = fixture
    let clock = fixture.clock
    // Sleeping advances this clock.
    fixture.options.sleep = { duration in
      try Task.checkCancellation()
      clock.advance(seconds: Double(duration.components.seconds) + 1)
    }
    let heard = Heard()
    fixture.options.sink = { await heard.add($0) }
    let store = try fixture.store()
    _ = try await store.session(account: "alice").buy("news", request: "1")
    let running = Task { try await store.run() }
    while await heard.numbers.count < 5 { await Task.yield() }
    running.cancel()
    _ = await running.result
    let numbers = await heard.numbers
    #expect(numbers == numbers.sorted())
    #expect(numbers.prefix(5) == [1, 2, 3, 4, 5])
  }

  @Test func theSinkReceivesMissedNotificationsInOrder() async throws {
    let first = try fixture.store()
    for number in 1...3 { _ = try await first.session(account: "alice").buy("coins", request: "\(number)") }
    var fixture = fixture
    let heard = Heard()
    fixture.options.sink = { await heard.add($0) }
    let store = try fixture.store()
    _ = try await store.session(account: "alice").buy("coins", request: "4")
    while await heard.numbers.count < 4 { await Task.yield() }
    #expect(await heard.numbers == [1, 2, 3, 4])
  }

  @Test func aRefundRevokesAllTransactionsOfAPurchase() async throws {
    let store = try fixture.store()
    let session = store.session(account: "alice")
    let theme = try await session.own("theme", request: "1")
    try await store.addToFamily("bob", of: "alice")
    let shared = try #require(try await store.purchaseRecord(of: "bob").first)
    #expect(shared.current.inAppOwnershipType == .familyShared)
    #expect(shared.charged == 0)
    let restored = try await session.restore(RestoreRequest(id: "r"), after: nil, limit: 9).transactions
    #expect(restored.count == 1)
    let again = try await session.own("theme", request: "2")
    let made = try await store.refund(again.transactionIdentifier, reason: .issue)
    #expect(made.map(\.type) == [.refund, .refund, .revoke, .refund])
    #expect(Set(made.filter { $0.account == "alice" }.map(\.signedDate)).count == 3)
    for purchase in try await store.purchaseRecord(of: "alice") + store.purchaseRecord(of: "bob") {
      #expect(purchase.current.revocationDate != nil)
      let signed = try await store.signedTransaction(purchase.transaction.transactionIdentifier)
      fixture.clock.advance(seconds: 1)
      #expect(try StoreFixture.verified(Array(signed.utf8)).revocationDate != nil)
    }
    await #expect(throws: LocalStoreError.self) { try await store.refund(theme.transactionIdentifier) }
    // A new purchase is charged again.
    let anew = try await session.own("theme", request: "3")
    #expect(anew.originalTransactionIdentifier == anew.transactionIdentifier)
    #expect(try await store.purchaseRecord(of: "alice").last?.charged == 2000)
    let back = try await store.reverseRefund(theme.transactionIdentifier)
    #expect(back.map(\.type) == [.refundReversed, .refundReversed, .refundReversed, .oneTimeCharge])
    #expect(back.last?.account == "bob")
    await #expect(throws: LocalStoreError.self) { try await store.refund("nonsense") }
  }

  @Test func familiesShareOneTimePurchasesUntilTheySeparate() async throws {
    let store = try fixture.store()
    try await store.addToFamily("bob", of: "alice")
    try await store.addToFamily("carol", of: "alice")
    await #expect(throws: LocalStoreError.self) { try await store.addToFamily("carol", of: "dave") }
    _ = try await store.session(account: "alice").own("theme", request: "1")
    _ = try await store.session(account: "alice").own("level", request: "2")
    #expect(try await store.purchaseRecord(of: "bob").map(\.current.productId) == ["theme"])
    let received = try await store.session(account: "bob").unfinishedTransactions(after: nil, limit: 9)
    #expect(received.transactions.map(\.payment.productIdentifier) == ["theme"])
    let lost = try await store.removeFromFamily("bob")
    #expect(lost.map(\.type) == [.revoke])
    #expect(lost.map(\.account) == ["bob"])
    let carols = try #require(try await store.purchaseRecord(of: "carol").first).transaction
    #expect(try await store.revoke(carols.transactionIdentifier).map(\.account) == ["carol"])
    await #expect(throws: LocalStoreError.self) { try await store.revoke(carols.transactionIdentifier) }
    await #expect(throws: LocalStoreError.self) { try await store.removeFromFamily("bob") }
  }

  @Test func refusalsChangeNothing() async throws {
    let store = try fixture.store()
    _ = try await store.session(account: "alice").buy("gold", request: "1")
    let before = try await store.subscriptions(of: "alice")
    let id = try #require(before.first?.id)
    await #expect(throws: LocalStoreError.self) { try await store.perform(.extend(id, byDays: 99)) }
    await #expect(throws: LocalStoreError.self) {
      try await store.perform(.changeRenewal(of: id, to: "news"))
    }
    await #expect(throws: LocalStoreError.self) {
      try await store.perform(.answerPriceIncrease(of: id, consents: true))
    }
    await #expect(throws: LocalStoreError.self) {
      try await store.perform(.setAutoRenew(false, of: "nonsense"))
    }
    await #expect(throws: LocalStoreError.self) { try await store.perform(.setForSale(false, "nonsense")) }
    await #expect(throws: LocalStoreError.self) {
      try await store.perform(.changePrice(of: "gold", to: -1, needsConsent: true))
    }
    #expect(try await store.subscriptions(of: "alice") == before)
    #expect(try await store.notifications().count == 1)
  }

  @Test func aDamagedStoreIsNotOpened() throws {
    _ = try fixture.store()
    try fixture.storage.commit([
      .put(RecordCollection(rawValue: "store-header"), key: "store", value: Array("{\"version\":2}".utf8))
    ])
    #expect(throws: LocalStoreError.self) { try fixture.store() }
    #expect(throws: LocalStoreError.self) {
      try LocalStore(
        catalog: StoreFixture.catalog, identity: TestAuthority.rsa().identity, storage: MemoryRecordStorage(),
        options: StoreFixture.options(), clock: fixture.clock.reading)
    }
  }

  private actor Heard {
    var numbers: [Int64] = []
    func add(_ notification: SignedNotification) { numbers.append(notification.number) }
  }
}
