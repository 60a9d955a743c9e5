// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Foundation
import Testing
import TransparencyLog

@Suite("An audit trail whose storage fails")
struct AuditLogFaultTests {
  /// Each fault at every fifth operation, all operations having their turn, and under the sanitizer at every fifteenth;
  /// every fault at every operation where the environment variable RECEIPTKIT_FULL_SWEEPS is set.
  #if ADDRESS_SANITIZER
    private static let stride = 15
  #else
    private static let stride = ProcessInfo.processInfo.environment["RECEIPTKIT_FULL_SWEEPS"] == nil ? 5 : 1
  #endif

  /// A trail of 250 entries: the session closes a bundle.
  private static let before = 250

  @Test(
    "loses nothing that it acknowledged and enters nothing twice, whichever operation fails",
    arguments: FaultInjectingStorage.Fault.all)
  func everyOperation(fault: FaultInjectingStorage.Fault) async throws {
    let start = MemoryStorage()
    let fixture = try TrailFixture(storage: start)
    let first = try fixture.create()
    try await first.append(TrailFixture.records(0..<Self.before))
    let published = try first.publishCheckpoint()
    var number = 1 + (FaultInjectingStorage.Fault.all.firstIndex(of: fault) ?? 0) % Self.stride
    var isReached = true
    while isReached {
      let checkpoints = MemoryCheckpointStore()
      #expect(checkpoints.replace(nil, with: published.signed.encoded))
      let storage = FaultInjectingStorage(start.copy())
      var session = Session(try open(storage, fixture, checkpoints), published)
      let before = storage.operations.count
      storage.fail(at: number, with: fault)
      try await session.run()
      isReached = storage.operations.count - before >= number
      #expect(session.failures.isEmpty != isReached, "operation \(number)")
      #expect(session.failures.isSubset(of: [.storageFull, .storageUnavailable, .stopped]))

      let reopened = try open(storage.reopen(), fixture, checkpoints)
      try await session.check(reopened, verifier: fixture.signer.verifierKey)
      let checker = TrailChecker(
        storage: storage.reopen(), verifier: fixture.signer.verifierKey, checkpoints: checkpoints)
      #expect(try checker.check().faults == [])
      number += Self.stride
    }
    // All of the session had its turn.
    #expect(number > 30)
  }

  private func open(
    _ storage: any TrailStorage, _ fixture: TrailFixture, _ checkpoints: any CheckpointStore
  ) throws -> AuditLog {
    try AuditLog.open(
      storage, verifier: fixture.signer.verifierKey, signer: fixture.signer, checkpoints: checkpoints,
      options: fixture.options)
  }

  /// The calls of a client to a trail, and the trail's answers.
  private struct Session {
    let log: AuditLog
    var checkpoints: [VerifiedCheckpoint]
    /// Indexes of records, as they were acknowledged.
    var acknowledged: [Int: UInt64] = [:]
    var isErased = false
    var failures: Set<AuditError.Code> = []

    static let steps = [250..<251, 251..<252, 252..<253, 253..<263, 263..<283]

    init(_ log: AuditLog, _ published: VerifiedCheckpoint) {
      self.log = log
      checkpoints = [published]
    }

    mutating func run() async throws {
      for (step, numbers) in Self.steps.enumerated() {
        do throws(AuditError) {
          let acknowledgements = try await log.append(TrailFixture.records(numbers))
          for (number, acknowledgement) in zip(numbers, acknowledgements) {
            acknowledged[number] = acknowledgement.index
          }
        } catch { failures.insert(error.code) }
        do throws(AuditError) {
          if step == 1 || step == 4 { checkpoints.append(try log.publishCheckpoint()) }
          if step == 2 {
            _ = try await log.erase(entry: 7)
            isErased = true
          }
          if step == 3 { _ = try await log.anchor(original: "1003") }
        } catch { failures.insert(error.code) }
      }
    }

    func check(_ log: AuditLog, verifier: NoteVerifierKey) async throws {
      // A client without an acknowledgement appends again.
      let numbers = 0..<283
      let again = try await log.append(TrailFixture.records(numbers))
      for number in numbers { #expect(acknowledged[number] ?? again[number].index == again[number].index) }
      #expect(Set(again.map(\.index)).count == numbers.count)
      let newest = try log.publishCheckpoint()
      try log.withView { view in
        for (number, index) in acknowledged {
          let entry = try #require(try view.proof(of: index).extra)
          #expect(try view.proof(of: index).verify(entry: entry, by: verifier).index == index)
          #expect(try AuditEntry(parsing: entry).transaction == "\(20_000 + number)")
        }
        var verdicts = 0
        for index in 0..<view.size where try view.entry(at: index).entry.kind == .verdict { verdicts += 1 }
        #expect(verdicts == numbers.count)
        for checkpoint in checkpoints + [newest] {
          let size = checkpoint.checkpoint.size
          #expect(try view.root(size: size) == checkpoint.checkpoint.root)
        }
        #expect(newest.checkpoint.size == view.size)
        if isErased { #expect(try view.erasablePart(at: 7) == nil) }
      }
    }
  }
}
