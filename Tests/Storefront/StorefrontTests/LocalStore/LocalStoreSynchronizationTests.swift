// SPDX-License-Identifier: Apache-2.0

import Storefront
import Synchronization
import Testing

/// Sales share syncs, and none is answered before its own.
@Suite struct LocalStoreSynchronizationTests {
  /// A storage that says which records are on disk, and whose sync fails on demand.
  private final class SyncedStorage: RecordStorage {
    private struct State {
      var appended: [RecordChange] = []
      var synced: Set<String> = []
      var syncs = 0
      var fails = false
      var hasFailed = false
    }

    let base = MemoryRecordStorage()
    private let state = Mutex(State())

    var syncs: Int { state.withLock { $0.syncs } }
    func failNextSync() { state.withLock { $0.fails = true } }

    /// Returns `true` if the record is on disk.
    func isSynced(_ key: String, in collection: String) -> Bool {
      state.withLock { $0.synced.contains("\(collection) \(key)") }
    }

    func records(
      in collection: RecordCollection, after key: String?, limit: Int
    ) throws(RecordStorageError) -> [StoredRecord] {
      try requireUse()
      return try base.records(in: collection, after: key, limit: limit)
    }

    func records(
      in collection: RecordCollection, before key: String?, limit: Int
    ) throws(RecordStorageError) -> [StoredRecord] {
      try requireUse()
      return try base.records(in: collection, before: key, limit: limit)
    }

    func value(of key: String, in collection: RecordCollection) throws(RecordStorageError) -> [UInt8]? {
      try requireUse()
      return try base.value(of: key, in: collection)
    }

    func append(_ changes: [RecordChange]) throws(RecordStorageError) {
      try requireUse()
      try base.commit(changes)
      state.withLock { $0.appended += changes }
    }

    func synchronize() throws(RecordStorageError) {
      try requireUse()
      let isDone = state.withLock { state in
        state.syncs += 1
        if state.fails {
          state.hasFailed = true
          return false
        }
        for case .put(let collection, let key, _) in state.appended {
          state.synced.insert("\(collection.rawValue) \(key)")
        }
        state.appended = []
        return true
      }
      if !isDone { throw RecordStorageError(.syncFailed, "by plan") }
    }

    func commit(_ changes: [RecordChange]) throws(RecordStorageError) {
      try append(changes)
      try synchronize()
    }

    func close() throws(RecordStorageError) {}

    private func requireUse() throws(RecordStorageError) {
      if state.withLock({ $0.hasFailed }) { throw RecordStorageError(.syncFailed, "an earlier sync failed") }
    }
  }

  /// Lets all callers go on at once, when so many have come.
  private actor Barrier {
    private var missing: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { missing = count }

    func pass() async {
      missing -= 1
      guard missing > 0 else {
        for continuation in waiting { continuation.resume() }
        return
      }
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  @Test("fifty sales at once take fewer syncs, and each is on disk when it is answered")
  func shared() async throws {
    let storage = SyncedStorage()
    var fixture = StoreFixture()
    let barrier = Barrier(50)
    fixture.options.authorize = { _, _ in
      await barrier.pass()
      return .approve
    }
    let store = try fixture.store(on: storage)
    let before = storage.syncs
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<50 {
        group.addTask {
          let sold = try await store.session(account: "customer-\(number)").buy("coins", request: "1")
          return storage.isSynced(sold.transactionIdentifier, in: "store-sales")
            && storage.isSynced("customer-\(number)/1", in: "store-requests")
        }
      }
      for try await isSynced in group { #expect(isSynced) }
    }
    #expect(storage.syncs - before < 50)
    #expect(try await store.notifications(limit: 100).count == 50)
  }

  @Test("a finish is on disk when it is answered, and what another call shows is, too")
  func finishing() async throws {
    let storage = SyncedStorage()
    let store = try StoreFixture().store(on: storage)
    let alice = store.session(account: "alice")
    let sold = try await alice.buy("coins", request: "1")
    let before = storage.syncs
    try await alice.finish(transactionIdentifier: sold.transactionIdentifier)
    #expect(storage.syncs == before + 1)
    // Nothing is left to sync.
    _ = try await store.notifications()
    #expect(storage.syncs == before + 1)
    try await store.refund(sold.transactionIdentifier)
    #expect(storage.syncs == before + 2)
  }

  @Test("a sale whose sync fails is not acknowledged, and neither is any later one")
  func failedSync() async throws {
    let storage = SyncedStorage()
    let fixture = StoreFixture()
    let store = try fixture.store(on: storage)
    let alice = store.session(account: "alice")
    _ = try await alice.buy("coins", request: "1")
    storage.failNextSync()
    for request in ["2", "3", "1"] {
      await #expect(throws: StoreUnavailable.self) { try await alice.buy("coins", request: request) }
    }
    await #expect(throws: LocalStoreError.self) { try await store.notifications() }
    // The next process has one or two sales, and answers the request with one.
    let next = try fixture.store(on: storage.base.reopened())
    _ = try await next.session(account: "alice").buy("coins", request: "2")
    #expect(try await next.purchaseRecord(of: "alice").map(\.transaction.requestIdentifier) == ["1", "2"])
  }
}
