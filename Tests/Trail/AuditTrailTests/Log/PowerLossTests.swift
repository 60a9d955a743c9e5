// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Synchronization
import Testing
import TransparencyLog

@Suite("An audit trail whose syncs take their time")
struct PowerLossTests {
  @Test("tells of nothing that a loss of power could take away, whichever process wrote it")
  func nothingUnsynced() async throws {
    let storage = VolatileStorage()
    let seen = Observations()
    let checkpoints = WatchedCheckpointStore { bytes in
      let size = UInt64(String(decoding: bytes, as: UTF8.self).split(separator: "\n")[1]) ?? .max
      if size > storage.syncedSize { seen.early.withLock { $0.append("checkpoint of \(size)") } }
    }
    var fixture = try TrailFixture(storage: storage, checkpoints: checkpoints)
    fixture.options.maximumBatch = 32
    fixture.options.checkpointInterval = .milliseconds(3)
    let logs = [try fixture.create(), try fixture.open()]

    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<12 {
        let log = logs[task % 2]
        group.addTask {
          for round in 0..<12 {
            // Half of the numbers are another task's as well.
            let first = (task / 2 * 12 + round) * 24
            let numbers = first..<first + [1, 24, 32, 48][(task + round) % 4]
            let mode: AcknowledgementMode = (task + round) % 5 == 0 ? .checkpointed : .durable
            let own = try await log.append(TrailFixture.records(numbers), acknowledgement: mode)
            let size = storage.syncedSize
            for (number, acknowledgement) in zip(numbers, own) {
              if acknowledgement.index >= size {
                seen.early.withLock { $0.append("entry \(acknowledgement.index)") }
              }
              seen.acknowledged.withLock { $0[number] = acknowledgement.index }
            }
          }
        }
      }
      for log in logs {
        group.addTask {
          for _ in 0..<100 {
            let size = try await log.read { view in view.size }
            if size > storage.syncedSize { seen.early.withLock { $0.append("view of \(size)") } }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(seen.early.withLock { $0 } == [])

    let left = storage.afterPowerLoss
    let reopened = try fixture.open(left)
    let acknowledgements = seen.acknowledged.withLock { $0 }
    #expect(acknowledgements.count > 1_700)
    try reopened.withView { view throws in
      for (number, index) in acknowledgements {
        #expect(try view.entry(at: index).entry.transaction == "\(20_000 + number)")
      }
    }
    let checker = TrailChecker(storage: left, verifier: fixture.signer.verifierKey, checkpoints: checkpoints)
    #expect(try checker.check().faults == [])
    for log in logs { try? log.close() }
  }

  @Test("stops at a sync that fails: what waited for it is not acknowledged, and not shown", arguments: 0..<3)
  func failedSync(after count: Int) async throws {
    let storage = VolatileStorage()
    var fixture = try TrailFixture(storage: storage)
    fixture.options.maximumBatch = 16
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<20))
    storage.fail(after: count)
    // Each client waits for its acknowledgements: there are syncs enough.
    let outcomes = await withTaskGroup(of: Outcome.self) { group in
      for client in 0..<4 {
        group.addTask {
          var outcome = Outcome()
          for batch in 0..<10 where outcome.code == nil {
            let first = 32 + (client * 10 + batch) * 16
            outcome.tried += first..<first + 16
            do throws(AuditError) {
              outcome.indexes += try await log.append(TrailFixture.records(first..<first + 16)).map(\.index)
            } catch { outcome.code = error.code }
          }
          return outcome
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let synced = storage.syncedSize
    let indexes = outcomes.flatMap(\.indexes)
    #expect(indexes.allSatisfy { $0 < synced })
    // The last sync that succeeded may have had more in it than what waited for it: that is shown, and not acknowledged.
    let shown = try log.withView { $0.size }
    #expect(indexes.count + 20 <= Int(shown) && shown <= synced)
    #expect(outcomes.allSatisfy { $0.code == .stopped })
    // Nothing goes on but reading.
    await #expect(throws: AuditError.self) { try await log.append(TrailFixture.records(900..<901)) }
    #expect(throws: AuditError.self) { try log.publishCheckpoint() }
    #expect(throws: AuditError.self) { try log.close() }

    let reopened = try fixture.open(storage.afterPowerLoss)
    #expect(try reopened.withView { $0.size } == synced)
    let tried = outcomes.flatMap(\.tried)
    let again = try await reopened.append(tried.map { TrailFixture.record($0) })
    #expect(Set(again.map(\.index)).count == tried.count)
    #expect(again.filter(\.isRepeat).count == Int(synced) - 20)
  }

  @Test("enters whole batches while others are synced, and has what is less wait for the sync")
  func enteringMeanwhile() async throws {
    let storage = VolatileStorage(microseconds: 0..<1)
    var fixture = try TrailFixture(storage: storage)
    fixture.options.maximumBatch = 16
    let log = try fixture.create()
    storage.hold(true)
    async let whole: Void = append(batches: 8, of: 16, from: 0, to: log)
    // Two batches while the first is synced.
    #expect(await storage.reaches(size: 48))
    #expect(storage.syncedSize == 0)
    #expect(try log.withView { $0.size } == 0)
    storage.hold(false)
    try await whole
    #expect(try log.withView { $0.size } == 128)

    let syncs = storage.syncCount
    storage.hold(true)
    async let one: Void = append(batches: 1, of: 1, from: 1000, to: log)
    #expect(await storage.reaches(size: 129, syncs: syncs + 1))
    async let others: Void = append(batches: 5, of: 1, from: 2000, to: log)
    try await Task.sleep(for: .milliseconds(50))
    #expect(storage.writtenSize == 129)
    storage.hold(false)
    _ = try await (one, others)
    #expect(try log.withView { $0.size } == 134)

    // Repeats of what is durable wait for nothing.
    let before = storage.syncCount
    #expect(try await log.append(TrailFixture.records(1..<3)).allSatisfy(\.isRepeat))
    #expect(storage.syncCount == before)
    try log.close()
  }

  private func append(batches: Int, of size: Int, from first: Int, to log: AuditLog) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for batch in 0..<batches {
        let start = first + batch * size
        group.addTask { try await log.append(TrailFixture.records(start..<start + size)) }
      }
      try await group.waitForAll()
    }
  }
}

private struct Outcome: Sendable {
  var tried: [Int] = []
  var indexes: [UInt64] = []
  var code: AuditError.Code?
}

private final class Observations: Sendable {
  /// The entries, checkpoints and views that the trail reported before they were synced.
  let early = Mutex<[String]>([])
  /// Indexes of records.
  let acknowledged = Mutex<[Int: UInt64]>([:])
}
