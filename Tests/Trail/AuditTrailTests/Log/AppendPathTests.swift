// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Dispatch
import Foundation
import Synchronization
import Testing
import TransparencyLog

@testable import AuditTrail
@testable import FingerprintIndex

/// Appends that are refused, wait, collide, or whose storage is slow.
@Suite("The path of an append", .timeLimit(.minutes(5)))
struct AppendPathTests {
  // MARK: Fingerprints that collide

  /// With fingerprints of two bits, almost all of some forty erasures collide with another.
  @Test("erases each of two entries whose erasures have the same fingerprint", arguments: [false, true])
  func collidingErasures(together: Bool) async throws {
    var fixture = try TrailFixture(storage: StallingStorage(MemoryStorage()))
    fixture.options.fingerprintBits = 2
    let log = try fixture.create()
    try await log.append((0..<40).map { TrailFixture.record($0, token: "customer \($0)") })
    var erasures: [AuditAcknowledgement] = []
    if together {
      erasures = try await log.erase(entries: Array(0..<40))
    } else {
      for index in 0..<40 { erasures.append(try await log.erase(entry: UInt64(index))) }
    }
    #expect(erasures.map(\.index) == Array(40..<80))
    #expect(erasures.allSatisfy { !$0.isRepeat })
    try log.close()
    let reopened = try fixture.open()
    #expect(try reopened.withView { $0.size } == 80)
    for index in 0..<40 as Range<UInt64> {
      #expect(try reopened.withView { try $0.entry(at: index + 40).entry.erased } == index)
    }
    // A repeat is a repeat all the same.
    #expect(try await reopened.erase(entry: 7) == AuditAcknowledgement(index: 47, isRepeat: true))
    #expect(
      try await reopened.append(TrailFixture.record(3)) == AuditAcknowledgement(index: 3, isRepeat: true))
    #expect(try await !reopened.append(TrailFixture.record(41)).isRepeat)
  }

  // MARK: Records that no entry can hold

  @Test("refuses a record that no entry can hold before it reaches the storage")
  func unstorable() async throws {
    let storage = FaultInjectingStorage(MemoryStorage())
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<10))
    let before = storage.operations
    let known = try #require(log.writer.locked { $0.written })
    func record(
      id: String? = nil, transaction: String? = nil, receipt: Int = 0, customer: Int = 0
    ) -> AuditRecord {
      AuditRecord(
        EntryFacts(
          time: 1_760_000_000_000, kind: EntryKind(rawValue: "event"), id: id, transaction: transaction),
        receiptBytes: receipt > 0 ? [UInt8](repeating: 1, count: receipt) : nil,
        customerToken: customer > 0 ? String(repeating: "c", count: customer) : nil)
    }
    for (refused, place) in [
      (record(id: String(repeating: "x", count: 20_000)), "entry"),
      // Each of its bytes takes three in the entry.
      (record(id: String(repeating: " ", count: 6_000)), "entry"),
      (record(id: String(repeating: "x", count: 70_000)), "entry"), (record(id: ""), "entry"),
      (record(id: "a", transaction: ""), "entry"), (record(id: "b", receipt: 17 << 20), "erasable part"),
      (record(id: "c", customer: 70_000), "erasable part"),
    ] {
      for records in [[refused], [record(id: "good"), refused]] {
        let error = await #expect(throws: AuditError.self) { try await log.append(records) }
        #expect(error?.code == .invalidRecord)
        #expect(error?.place == place)
      }
    }
    #expect(storage.operations == before)
    // The writer's state is unchanged.
    #expect(try log.writer.locked { $0.written }?.head == known.head)
    let longest = record(id: String(repeating: "x", count: 16_000), receipt: 15 << 20, customer: 60_000)
    #expect(try await log.append(longest).index == 10)
    #expect(try log.withView { try $0.entry(at: 10).entry.id }?.count == 16_000)
  }

  // MARK: What waits

  private func request(_ count: Int, bytes: Int, to queue: inout AppendQueue) async throws {
    let request = try await unawaited(count, bytes: bytes)
    _ = try queue.accept(request)
  }

  /// A request to which nobody waits for an answer.
  private func unawaited(_ count: Int, bytes: Int) async throws -> AppendQueue.Request {
    let made = Mutex<AppendQueue.Request?>(nil)
    _ = await withCheckedContinuation { continuation in
      made.withLock {
        $0 = AppendQueue.Request(
          records: Array(repeating: TrailFixture.record(1), count: count), byteCount: bytes, mode: .durable,
          continuation: continuation)
      }
      continuation.resume(returning: .failure(AuditError(.closed, "")))
    }
    return try #require(made.withLock { $0 })
  }

  @Test("takes no more in than may wait, in bytes as in records")
  func bounds() async throws {
    var queue = AppendQueue(maximumWaiting: 100, maximumWaitingByteCount: 1000, maximumBatch: 10)
    for _ in 0..<4 { try await request(1, bytes: 250, to: &queue) }
    let error = await #expect(throws: AuditError.self) { try await self.request(1, bytes: 1, to: &queue) }
    #expect(error?.code == .overloaded)
    // Those that are prepared wait still, those that are committed do not.
    let taken = queue.next(.preparing) ?? []
    #expect(taken.count == 4)
    await #expect(throws: AuditError.self) { try await self.request(1, bytes: 1, to: &queue) }
    _ = queue.add(taken, to: .committing)
    let committed = queue.next(.committing)
    #expect(committed?.count == 4)
    try await request(1, bytes: 1, to: &queue)
  }

  @Test("takes in a request of any size while small ones keep coming")
  func largeRequests() async throws {
    var queue = AppendQueue(maximumWaiting: 100, maximumWaitingByteCount: 1000, maximumBatch: 10)
    try await request(99, bytes: 999, to: &queue)
    // It was refused as long as anything waited.
    try await request(500, bytes: 50_000, to: &queue)
    await #expect(throws: AuditError.self) { try await self.request(1, bytes: 1, to: &queue) }
  }

  @Test("refuses what is too much for a storage that stalls")
  func stalledStorage() async throws {
    let storage = StallingStorage(MemoryStorage())
    var fixture = try TrailFixture(storage: storage)
    fixture.options.maximumWaitingByteCount = 1 << 20
    let log = try fixture.create()
    storage.stall()
    func record(_ number: Int) -> AuditRecord {
      AuditRecord(
        EntryFacts(time: 1_760_000_000_000, kind: EntryKind(rawValue: "event"), id: "\(number)"),
        receiptBytes: [UInt8](repeating: 1, count: 1 << 19))
    }
    // At most one batch is in the storage, and another being prepared.
    let codes = await withTaskGroup(of: AuditError.Code?.self) { group in
      for number in 0..<64 {
        group.addTask {
          do throws(AuditError) {
            _ = try await log.append(record(number))
            return nil
          } catch { return error.code }
        }
      }
      var codes: [AuditError.Code?] = []
      while let code = await group.next() {
        codes.append(code)
        // The first answers are refusals; then the storage goes on.
        storage.goOn()
      }
      return codes
    }
    #expect(codes.contains(.overloaded))
    #expect(codes.count { $0 == nil } >= 2)
    #expect(Set(codes).isSubset(of: [nil, .overloaded]))
    try log.close()
  }

  // MARK: Syncs

  @Test("syncs once for all that wait for a sync")
  func oneSync() throws {
    let count = 8
    let storage = StallingStorage(MemoryStorage())
    let durable = DurableSize()
    final class Started: Sendable { let count = Atomic(0) }
    let started = Started()
    unsafe storage.beforeSync = {
      while started.count.load(ordering: .sequentiallyConsistent) < count { usleep(1000) }
    }
    // Threads of their own: Dispatch has no more at a time than there are processors.
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        started.count.add(1, ordering: .sequentiallyConsistent)
        try? durable.reach(UInt64(number + 1), in: storage) { UInt64(count) }
        group.leave()
      }
    }
    group.wait()
    #expect(durable.value == UInt64(count))
    #expect(storage.syncs == 1)
  }

  // MARK: Closing, creating, clocks

  @Test("leaves a merge that is under way to the next process when it is closed")
  func releasedMerges() async throws {
    let fixture = try TrailFixture(storage: StallingStorage(MemoryStorage()))
    let log = try fixture.create()
    // Nothing is merged in the background.
    log.index.close()
    for part in 0..<9 { try await log.append(TrailFixture.records(part * 256..<(part + 1) * 256)) }
    #expect(try log.index.step())
    func merges() throws -> [IndexMerge] {
      try fixture.storage.read { reader in
        let head = try log.context.keys.head(in: reader)
        return try IndexCatalogue(head.indexRoot, in: IndexRows(base: reader)).merges
      }
    }
    #expect(try merges().map { $0.time > 0 } == [true])
    try log.close()
    #expect(try merges().map(\.time) == [0])
  }

  @Test("shows readers the customers of entries whose erasure was not committed")
  func failedErasure() async throws {
    let storage = FaultInjectingStorage(MemoryStorage())
    let fixture = try TrailFixture(storage: storage)
    let log = try fixture.create()
    try await log.append((0..<20).map { TrailFixture.record($0, token: "customer \($0 % 2)") })
    let found = try log.withView { try $0.entries(customer: "customer 1").map(\.index) }
    #expect(found.count == 10)
    var number = 1
    var (isReached, isCommitted) = (true, false)
    while isReached {
      let before = storage.operations.count
      storage.fail(at: number, with: .init(.full, lasts: true))
      isReached = (try? await log.erase(entry: 1)) == nil
      #expect(isReached == (storage.operations.count - before >= number))
      if isReached {
        // Once it is committed it is seen, though what comes after it fails.
        isCommitted = isCommitted || storage.operations[before...].prefix(number - 1).contains(.commit)
        #expect(
          try log.withView { try $0.entries(customer: "customer 1").map(\.index) }
            == found.filter { $0 != 1 || !isCommitted }, "\(number)")
      }
      storage.heal()
      number += 1
    }
    #expect(number > 4)
    #expect(
      try log.withView { try $0.entries(customer: "customer 1").map(\.index) } == found.filter { $0 != 1 })
  }

  @Test(
    "takes an interval of any length", arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .zero])
  func intervals(_ interval: Duration) async throws {
    var fixture = try TrailFixture()
    fixture.options.checkpointInterval = interval
    let log = try fixture.create()
    #expect(try await log.append(TrailFixture.record(1)).index == 0)
    try log.close()
  }

  @Test("creates a trail again that was created and has no entries, and no other")
  func createdTwice() async throws {
    let fixture = try TrailFixture(storage: StallingStorage(MemoryStorage()))
    try fixture.create().close()
    let again = try fixture.create()
    try await again.append(TrailFixture.record(1))
    try again.close()
    let third = #expect(throws: AuditError.self) { try fixture.create() }
    #expect(third?.code == .alreadyExists)
    // The place of another trail's checkpoint is not taken.
    let other = try TrailFixture(checkpoints: fixture.checkpoints)
    let error = #expect(throws: AuditError.self) { try other.create() }
    #expect(error?.code == .alreadyExists)
    #expect(error?.place == "checkpoint")
  }
}

/// A storage that lets no write begin while it is told so, counts its syncs, and is there still when it was closed.
private final class StallingStorage: TrailStorage {
  private let base: any TrailStorage
  private let state = Mutex((isStalled: false, syncs: 0))
  nonisolated(unsafe) var beforeSync: @Sendable () -> Void = {}

  init(_ base: any TrailStorage) { self.base = base }

  var syncs: Int { state.withLock { $0.syncs } }

  func stall() { state.withLock { $0.isStalled = true } }

  func goOn() { state.withLock { $0.isStalled = false } }

  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result { try base.read(body) }

  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    while state.withLock({ $0.isStalled }) { usleep(1000) }
    return try base.write(body)
  }

  func synchronize() throws {
    state.withLock { $0.syncs += 1 }
    unsafe beforeSync()
    try base.synchronize()
  }

  func scrub() throws { try base.scrub() }

  func byteCount() throws -> UInt64 { try base.byteCount() }

  func close() {}
}
