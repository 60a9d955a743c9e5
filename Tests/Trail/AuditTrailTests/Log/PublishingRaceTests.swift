// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Synchronization
import Testing
import TransparencyLog

/// The stored checkpoint covers every entry that is acknowledged as checkpointed, even if other processes are faster.
@Suite struct PublishingRaceTests {
  /// A place of the last checkpoint in which somebody else is faster a few times.
  private final class ContestedStore: CheckpointStore {
    private let base = MemoryCheckpointStore()
    private let lostRaces = Mutex(0)
    private let rival = Mutex<(@Sendable (MemoryCheckpointStore) throws -> Void)?>(nil)

    /// Has the next `count` exchanges lost, each after what `rival` does.
    func lose(_ count: Int, to rival: @escaping @Sendable (MemoryCheckpointStore) throws -> Void) {
      lostRaces.withLock { $0 = count }
      self.rival.withLock { $0 = rival }
    }

    func load() -> [UInt8]? { base.load() }

    func replace(_ old: [UInt8]?, with new: [UInt8]) throws -> Bool {
      let isLost = lostRaces.withLock { count in
        count -= 1
        return count >= 0
      }
      guard isLost else { return base.replace(old, with: new) }
      try rival.withLock { $0 }?(base)
      return false
    }
  }

  private func covered(_ store: ContestedStore, by key: NoteVerifierKey) throws -> UInt64 {
    try SignedCheckpoint(parsing: #require(store.load())).verified(by: key).checkpoint.size
  }

  @Test("an exchange that was lost is made again before anything is acknowledged", arguments: [1, 3])
  func lostExchange(count: Int) async throws {
    let store = ContestedStore()
    let fixture = try TrailFixture(checkpoints: store)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<5), acknowledgement: .checkpointed)
    store.lose(count) { _ in }
    try await log.append(TrailFixture.records(5..<9), acknowledgement: .checkpointed)
    #expect(try covered(store, by: fixture.signer.verifierKey) == 9)
    #expect(try log.withView { $0.checkpoint?.checkpoint.size } == 9)
  }

  @Test("where another process was faster, its checkpoint counts as far as it goes, and no further")
  func fasterRival() async throws {
    let store = ContestedStore()
    let fixture = try TrailFixture(checkpoints: store)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<5), acknowledgement: .checkpointed)
    try await log.append(TrailFixture.records(5..<7))
    let root = try log.withView { $0.root }
    let rival = try Checkpoint(origin: TrailFixture.origin, size: 7, root: root).signed(by: fixture.signer)
    store.lose(1) { _ = $0.replace($0.load(), with: rival.encoded) }
    try await log.append(TrailFixture.records(7..<9), acknowledgement: .checkpointed)
    #expect(try covered(store, by: fixture.signer.verifierKey) == 9)
    // A rival that has another history is no reason to acknowledge anything.
    let forged = try Checkpoint(origin: TrailFixture.origin, size: 9, root: root).signed(by: fixture.signer)
    store.lose(1) { _ = $0.replace($0.load(), with: forged.encoded) }
    await #expect {
      try await log.append([TrailFixture.record(9)], acknowledgement: .checkpointed)
    } throws: { ($0 as? AuditError)?.code == .forked }
  }
}
