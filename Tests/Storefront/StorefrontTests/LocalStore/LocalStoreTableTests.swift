// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront
import Synchronization
import Testing

/// Customers and subscriptions are read when they are used.
@Suite struct LocalStoreTableTests {
  /// Counts the records that are read, and fails to read one collection on demand.
  private final class CountingStorage: RecordStorage {
    let base: any RecordStorage
    private let state = Mutex((read: 0, failing: ""))

    init(_ base: any RecordStorage) { self.base = base }

    var read: Int { state.withLock { $0.read } }
    func failReading(_ collection: String) { state.withLock { $0.failing = collection } }

    private func count(
      _ collection: RecordCollection, _ read: () throws(RecordStorageError) -> [StoredRecord]
    ) throws(RecordStorageError) -> [StoredRecord] {
      if state.withLock({ $0.failing == collection.rawValue }) {
        throw RecordStorageError(.inputOutput, at: collection.rawValue, "by plan")
      }
      let records = try read()
      state.withLock { $0.read += records.count }
      return records
    }

    func records(
      in collection: RecordCollection, after key: String?, limit: Int
    ) throws(RecordStorageError) -> [StoredRecord] {
      try count(collection) { () throws(RecordStorageError) in
        try base.records(in: collection, after: key, limit: limit)
      }
    }

    func records(
      in collection: RecordCollection, before key: String?, limit: Int
    ) throws(RecordStorageError) -> [StoredRecord] {
      try count(collection) { () throws(RecordStorageError) in
        try base.records(in: collection, before: key, limit: limit)
      }
    }

    func value(of key: String, in collection: RecordCollection) throws(RecordStorageError) -> [UInt8]? {
      try count(collection) { () throws(RecordStorageError) in
        try base.value(of: key, in: collection).map { [StoredRecord(key: key, value: $0)] } ?? []
      }.first?.value
    }

    func commit(_ changes: [RecordChange]) throws(RecordStorageError) { try base.commit(changes) }
    func close() throws(RecordStorageError) { try base.close() }
  }

  private func filled(_ fixture: StoreFixture, customers: Int) async throws {
    let store = try fixture.store()
    for number in 0..<customers {
      _ = try await store.session(account: "customer-\(number)").buy("silver", request: "1")
    }
    try await store.close()
  }

  @Test("opening a store and answering about a customer reads as much of many customers as of few")
  func readsWhatIsUsed() async throws {
    var reads: [[Int]] = []
    for customers in [5, 60] {
      let fixture = StoreFixture()
      try await filled(fixture, customers: customers)
      let storage = CountingStorage(fixture.storage.reopened())
      let store = try fixture.store(on: storage)
      var counts = [storage.read]
      #expect(try await store.subscriptions(of: "customer-3").map(\.productIdentifier) == ["silver"])
      counts.append(storage.read)
      _ = try await store.session(account: "customer-4").buy("coins", request: "2")
      counts.append(storage.read)
      reads.append(counts)
    }
    // A page of one customer's subscriptions may hold entries of others.
    #expect(reads[0][0] == reads[1][0])
    #expect(reads[1][1] - reads[0][1] < 60)
    #expect(reads[1][2] - reads[1][1] == reads[0][2] - reads[0][1])
  }

  @Test("everything due happens in the order of its dates and subscriptions, after any number of openings")
  func due() async throws {
    let fixture = StoreFixture()
    try await filled(fixture, customers: 70)
    // The trial of a week ends for all of them at once: more than one batch.
    let end = StoreFixture.start.addingSeconds(8 * 86_400)
    var opened = try fixture.store(on: fixture.storage.reopened())
    try await opened.advance(to: end)
    let undisturbed = try await opened.notifications(after: 70, limit: 1000)
    #expect(undisturbed.map(\.type) == Array(repeating: .didRenew, count: 70))
    #expect(
      undisturbed.map(\.originalTransactionIdentifier)
        == undisturbed.map(\.originalTransactionIdentifier).sorted())

    // Each step in a process of its own.
    var storage = fixture.storage.reopened()
    for hour in 0...(8 * 4) {
      opened = try fixture.store(on: storage)
      try await opened.advance(to: StoreFixture.start.addingSeconds(Double(hour) * 6 * 3600))
      storage = storage.reopened()
    }
    opened = try fixture.store(on: storage)
    #expect(try await opened.notifications(after: 70, limit: 1000).map(\.uuid) == undisturbed.map(\.uuid))
    let next = try #require(try await opened.nextDueDate())
    #expect(next > end)
  }

  @Test(
    "what cannot be read is an error, and not taken for absent",
    arguments: ["store-subscriptions", "store-subscribers", "store-families", "store-due"])
  func unreadable(collection: String) async throws {
    let fixture = StoreFixture()
    try await filled(fixture, customers: 3)
    let storage = CountingStorage(fixture.storage.reopened())
    let store = try fixture.store(on: storage)
    let before = try await store.notifications().count
    storage.failReading(collection)
    let customer = store.session(account: "customer-1")
    await #expect(throws: StoreUnavailable.self) { try await customer.buy("silver.plus", request: "2") }
    if collection == "store-subscriptions" {
      let failure = await #expect(throws: LocalStoreError.self) {
        try await store.perform(.setAutoRenew(false, of: "2000000000000001"))
      }
      #expect(failure?.code == .storage)
    }
    storage.failReading("")
    // Nothing was sold by half, and the request is repeated.
    #expect(try await store.notifications().count == before)
    _ = try await customer.buy("silver.plus", request: "2")
    #expect(try await store.subscriptions(of: "customer-1").count == 1)
    #expect(try await store.notifications().count == before + 1)
  }

  @Test("a change of price finds all subscriptions of the product")
  func prices() async throws {
    let fixture = StoreFixture()
    try await filled(fixture, customers: 300)
    let store = try fixture.store(on: fixture.storage.reopened())
    let notices = try await store.perform(.changePrice(of: "silver", to: 7, needsConsent: true))
    #expect(notices.count == 300)
    #expect(Set(notices.map(\.type)) == [.priceIncrease])
  }
}
