// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

/// A store that an earlier build wrote.
@Suite struct LocalStoreUpgradeTests {
  private static let collections = [
    "store-header", "store-requests", "store-sales", "store-accounts", "store-unfinished", "store-lines",
    "store-owned", "store-subscriptions", "store-outbox",
  ]

  /// The same records as version 1 had them: without the places in histories and the dates of notifications.
  private func version1(of storage: MemoryRecordStorage) throws -> MemoryRecordStorage {
    let old = MemoryRecordStorage()
    for name in Self.collections {
      let collection = RecordCollection(rawValue: name)
      for record in try storage.records(in: collection, after: nil, limit: .max) {
        guard case .object(var members)? = try? JSONValue(parsing: record.value) else {
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
}
