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
    let outcomes = await withTaskGroup(of: (Int, Result<[AuditAcknowledgement], AuditError>).self) { group in
      for number in 2..<18 {
        group.addTask {
          do throws(AuditError) {
            return (
              number, .success(try await log.append(TrailFixture.records(number * 16..<number * 16 + 16)))
            )
          } catch { return (number, .failure(error)) }
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let synced = storage.syncedSize
    let indexes = outcomes.values.compactMap { try? $0.get() }.flatMap { $0.map(\.index) }
    #expect(indexes.allSatisfy { $0 < synced })
    // The last sync that succeeded may have had more in it than what waited for it.
    let shown = try log.withView { $0.size }
    #expect(indexes.count + 20 == Int(shown) && shown <= synced)
    let codes = outcomes.values.compactMap { outcome -> AuditError.Code? in
      if case .failure(let error) = outcome { error.code } else { nil }
    }
    #expect(!codes.isEmpty && codes.allSatisfy { $0 == .stopped })
    // Nothing goes on but reading.
    await #expect(throws: AuditError.self) { try await log.append(TrailFixture.records(900..<901)) }
    #expect(throws: AuditError.self) { try log.publishCheckpoint() }
    #expect(throws: AuditError.self) { try log.close() }

    let reopened = try fixture.open(storage.afterPowerLoss)
    #expect(try reopened.withView { $0.size } == synced)
    let again = try await reopened.append(TrailFixture.records(32..<288))
    #expect(Set(again.map(\.index)).count == 256)
    #expect(again.filter(\.isRepeat).count == Int(synced) - 20)
  }

  @Test("enters whole batches while others are synced, and has what is less share a sync")
  func fewerSyncs() async throws {
    let storage = VolatileStorage(microseconds: 20_000..<20_001)
    var fixture = try TrailFixture(storage: storage)
    fixture.options.maximumBatch = 16
    let log = try fixture.create()
    for size in [16, 1] {
      let before = storage.syncCount
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          let numbers = number * 40 + size..<number * 40 + 2 * size
          group.addTask { try await log.append(TrailFixture.records(numbers)) }
        }
        try await group.waitForAll()
      }
      #expect(storage.syncCount - before < 40)
    }
    #expect(try log.withView { $0.size } == 40 * 17)
    let before = storage.syncCount
    // Repeats of what is safe wait for nothing.
    #expect(try await log.append(TrailFixture.records(41..<42)).allSatisfy(\.isRepeat))
    #expect(storage.syncCount == before)
    try log.close()
  }
}

private final class Observations: Sendable {
  /// What was told of before it was synced.
  let early = Mutex<[String]>([])
  /// Indexes of records.
  let acknowledged = Mutex<[Int: UInt64]>([:])
}
