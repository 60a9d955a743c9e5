// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptTesting
import Testing

@testable import Storefront

/// A store that an earlier build wrote.
@Suite struct LocalStoreUpgradeTests {
  private static let collections = [
    "store-header", "store-requests", "store-sales", "store-accounts", "store-unfinished", "store-lines",
    "store-owned", "store-subscriptions", "store-outbox", "store-receipts", "store-texts",
  ]

  /// The same records as version 1 had them: without the places in histories and the dates of notifications.
  private func version1(of storage: MemoryRecordStorage) throws -> MemoryRecordStorage {
    let old = MemoryRecordStorage()
    for name in Self.collections {
      let collection = RecordCollection(rawValue: name)
      for record in try storage.records(in: collection, after: nil, limit: .max) {
        // Without the packed text of a notification.
        let json = Array(record.value.prefix { $0 != 0 })
        guard case .object(var members)? = try? JSONValue(parsing: json) else {
          try old.commit([.put(collection, key: record.key, value: record.value)])
          continue
        }
        members.removeAll { $0.name == "modification" }
        for index in members.indices {
          if members[index].name == "version" { members[index].value = .integer(1) }
          if members[index].name == "ledger", case .object(let ledger) = members[index].value {
            members[index].value = .object(ledger.filter { $0.name != "modificationCount" })
          }
        }
        try old.commit([.put(collection, key: record.key, value: JSONValue.object(members).encoded())])
      }
    }
    return old
  }

  @Test("histories and dates are added when it is opened, once")
  func upgrade() async throws {
    let fixture = StoreFixture()
    let store = try fixture.store()
    let alice = store.session(account: "alice")
    var sold: [String] = []
    for number in 1...3 {
      let request = PurchaseRequest(
        id: "\(number)", payment: Payment(productIdentifier: number == 2 ? "gold" : "coins"))
      guard case .purchased(let transaction) = try await alice.purchase(request) else {
        Issue.record("nothing was sold")
        return
      }
      sold.append(transaction.transactionIdentifier)
    }
    let notifications = try await store.notifications().map(\.number)

    let old = try version1(of: fixture.storage)
    let history = RecordCollection(rawValue: "store-history")
    #expect(try old.records(in: history, after: nil, limit: 1).isEmpty)
    let opened = try fixture.store(on: old)
    #expect(try await opened.history(of: "alice").sales.map(\.identifier) == sold)
    let dates = StoreFixture.start..<StoreFixture.start.addingSeconds(60)
    let page = try await opened.notifications(signedIn: dates, after: nil, limit: 10) { _, _ in true }
    #expect(page.items.map(\.notification.number) == notifications)
    // A change takes the end of the history, also after the next opening.
    try await opened.refund(sold[0])
    let again = try fixture.store(on: old.reopened())
    #expect(
      try await again.history(of: "alice", isDescending: true).sales.map(\.identifier) == [
        sold[0], sold[2], sold[1],
      ])
  }

  /// The records that version 2 wrote, as `GET /_emulator/state` gives them: Alice has coins and shares her subscription
  /// with Bob, and Carol's charges fail.
  private static func version2() throws -> [RecordChange] {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "Fixtures/store-version-2.json")
    let json = try JSONValue(parsing: Array(try Data(contentsOf: file)))
    return (json["records"]?.array ?? []).map { record in
      .put(
        RecordCollection(rawValue: record["collection"]?.string ?? ""), key: record["key"]?.string ?? "",
        value: Array((record["value"]?.string ?? "").utf8))
    }
  }

  private static let monthly = "com.example.app.monthly"

  private static func store(on storage: any RecordStorage) throws -> LocalStore {
    let month = try #require(SubscriptionPeriod("P1M"))
    let terms = SubscriptionTerms(groupIdentifier: "20600001", level: 2, period: month)
    let catalog = ProductCatalog(
      products: [
        CatalogProduct(productIdentifier: "com.example.app.coins", type: .consumable, price: 1),
        CatalogProduct(
          productIdentifier: monthly, type: .autoRenewableSubscription, price: 10, isFamilyShareable: true,
          subscription: terms),
      ], subscriptionGroups: [SubscriptionGroup(id: "20600001")])
    let fixture = StoreFixture()
    return try LocalStore(
      catalog: catalog, identity: TestAuthority.es256().identity, storage: storage, options: fixture.options,
      clock: fixture.clock.reading)
  }

  /// Checks that a store of version 2 shows its receipts, notifications and families, and continues to work.
  private func check(_ storage: MemoryRecordStorage) async throws {
    let store = try Self.store(on: storage)
    for change in try Self.version2() {
      guard case .put(let collection, let key, let value) = change, let json = try? JSONValue(parsing: value)
      else { continue }
      if collection.rawValue == "store-sales" {
        let receipt = try await store.purchase(key)?.transaction.receipt
        #expect(receipt.map { String(decoding: $0, as: UTF8.self) } == json["receipt"]?.string)
      }
      if collection.rawValue == "store-outbox" {
        let number = try #require(Int64(key))
        let found = try await store.notifications(after: number - 1, limit: 1).first
        #expect(found?.signedPayload == json["signedPayload"]?.string)
      }
    }
    #expect(try await store.subscriptions(of: "alice").map(\.sharedTo) == [["2000000000000003"]])
    #expect(try await store.subscriptions(of: "bob").map(\.sharedFrom) == ["2000000000000002"])
    #expect(try await store.nextDueDate() == Timestamp(secondsSince1970: 1_738_368_000))
    #expect(try await store.refund("2000000000000001").map(\.type) == [.refund])
    // Both renew, Alice may not pay for Carol, and Carol's charge fails.
    _ = try await store.session(account: "carol").buy(Self.monthly, request: "1")
    try await store.advance(to: Timestamp(secondsSince1970: 1_738_368_010))
    let events = try await store.notifications(after: 5).map { "\($0.account) \($0.type.rawValue)" }
    #expect(events == ["alice DID_RENEW", "bob DID_RENEW", "carol DID_FAIL_TO_RENEW"])
    await #expect(throws: LocalStoreError.self) { try await store.addToFamily("bob", of: "carol") }
    #expect(try await store.removeFromFamily("bob").map(\.type) == [.revoke])
    #expect(
      try await Self.store(on: storage.reopened()).subscriptions(of: "bob").map(\.transaction.revocationType)
        == [.familyRevoke])
  }

  @Test("a receipt of version 3 is in a record of its own")
  func version3() async throws {
    let fixture = StoreFixture()
    let request = PurchaseRequest(id: "1", payment: Payment(productIdentifier: "coins"))
    guard case .purchased(let sold) = try await fixture.store().session(account: "alice").purchase(request)
    else {
      Issue.record("nothing was sold")
      return
    }
    let old = fixture.storage.reopened()
    var texts = SharedTexts()
    for text in try old.records(in: .storeTexts, after: nil, limit: 10) { try texts.restore(text) }
    let header = try #require(try old.value(of: "store", in: .storeHeader))
    let record = try #require(try old.value(of: sold.transactionIdentifier, in: .storeSales))
    let version4 = String(decoding: header, as: UTF8.self)
    #expect(version4.contains("\"version\":4"))
    let receipt = PackedText.pack(String(decoding: sold.receipt, as: UTF8.self), &texts)
    try old.commit([
      .put(
        .storeHeader, key: "store",
        value: Array(version4.replacing("\"version\":4", with: "\"version\":3").utf8)),
      .put(.storeSales, key: sold.transactionIdentifier, value: PackedText.split(record).json),
      .put(.storeReceipts, key: sold.transactionIdentifier, value: receipt),
    ])
    let opened = try fixture.store(on: old)
    #expect(try await opened.purchase(sold.transactionIdentifier)?.transaction.receipt == sold.receipt)
    // The store writes the sale again as version 4, and a refund leaves the receipt as it was issued.
    try await opened.refund(sold.transactionIdentifier)
    let again = try fixture.store(on: old.reopened())
    #expect(try await again.purchase(sold.transactionIdentifier)?.transaction.receipt == sold.receipt)
    #expect(try await again.notifications().count == 2)
  }

  @Test("a store of version 2 goes on")
  func version2() async throws {
    let storage = MemoryRecordStorage()
    try storage.commit(Self.version2())
    try await check(storage)
  }

  @Test(
    "an upgrade that ends at any commit is repeated",
    arguments: FaultyRecordStorage.Fault.withUnacknowledged)
  func crashes(fault: FaultyRecordStorage.Fault) async throws {
    for number in 1... {
      let storage = MemoryRecordStorage()
      try storage.commit(Self.version2())
      let crashing = FaultyRecordStorage(storage)
      crashing.fail(fault, atCommit: number)
      let opened = try? Self.store(on: crashing)
      try await check(storage.reopened())
      if opened != nil {
        #expect(number > 1)
        return
      }
    }
  }
}
