// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import AuditTrailTesting
import Synchronization
import Testing
import TransparencyLog

/// A checkpoint that cannot be published is retried, reported, and stops appends where the operator says so.
@Suite struct HealthTests {
  /// A place of the last checkpoint that can be out of reach, or hold something else.
  private final class FailingPlace: CheckpointStore {
    enum State: Sendable { case working, unreachable, damaged }
    let base = MemoryCheckpointStore()
    let state = Mutex(State.working)

    func set(_ new: State) { state.withLock { $0 = new } }

    func load() throws -> [UInt8]? {
      switch state.withLock({ $0 }) {
      case .working: base.load()
      case .unreachable: throw StorageError(.unavailable, at: "place", "It cannot be reached.")
      case .damaged: Array("damaged".utf8)
      }
    }

    func replace(_ old: [UInt8]?, with new: [UInt8]) throws -> Bool {
      guard state.withLock({ $0 }) == .working else {
        throw StorageError(.unavailable, at: "place", "It cannot be reached.")
      }
      return base.replace(old, with: new)
    }
  }

  private final class Events: Sendable { let all = Mutex<[AuditLogEvent]>([]) }

  private func wait(_ condition: () -> Bool) async throws -> Bool {
    for _ in 0..<2000 {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(5))
    }
    return false
  }

  @Test("publishing that fails is reported, and goes on when the place is mended", arguments: [true, false])
  func recovers(isDamaged: Bool) async throws {
    let place = FailingPlace()
    var fixture = try TrailFixture(checkpoints: place)
    fixture.options.checkpointInterval = .milliseconds(5)
    let events = Events()
    fixture.options.eventHandler = { event in events.all.withLock { $0.append(event) } }
    let log = try fixture.create()
    #expect(log.health.isHealthy && log.health.uncheckpointedCount == 0)
    place.set(isDamaged ? .damaged : .unreachable)
    try await log.append(TrailFixture.records(0..<3))
    #expect(try await wait { log.health.failedAttempts >= 3 })
    #expect(log.health.publishingFault?.code == (isDamaged ? .tampered : .storageUnavailable))
    #expect(log.health.uncheckpointedCount == 3 && log.health.uncheckpointedAge > .zero)
    #expect(!log.health.isHealthy && log.health.stopped == nil)
    // Without a limit entries are still stored.
    try await log.append(TrailFixture.records(3..<4))
    place.set(.working)
    #expect(try await wait { log.health.isHealthy && log.health.uncheckpointedCount == 0 })
    let newest = try SignedCheckpoint(parsing: #require(place.base.load()))
    #expect(newest.unverifiedCheckpoint.size == 4)
    // One event for each attempt that failed, and one for the success after them.
    let reported = events.all.withLock { $0 }
    let failures = reported.dropLast()
    #expect(failures.count >= 3)
    for (number, event) in failures.enumerated() {
      guard case .publishingFailed(let error, attempts: number + 1) = event else {
        Issue.record("\(event)")
        continue
      }
      #expect(error.code == (isDamaged ? .tampered : .storageUnavailable))
    }
    #expect(reported.last == .publishingRecovered(failedAttempts: failures.count))
  }

  @Test("beyond the operator's limit nothing is stored until checkpoints are published again")
  func limit() async throws {
    let place = FailingPlace()
    var fixture = try TrailFixture(checkpoints: place)
    fixture.options.checkpointInterval = .milliseconds(5)
    fixture.options.maximumUncheckpointedAge = .milliseconds(20)
    let log = try fixture.create()
    place.set(.unreachable)
    try await log.append(TrailFixture.records(0..<1))
    #expect(
      try await wait { log.health.uncheckpointedAge > .milliseconds(40) && log.health.failedAttempts > 0 })
    await #expect {
      try await log.append(TrailFixture.records(1..<2))
    } throws: {
      ($0 as? AuditError)?.code == .checkpointOverdue
    }
    let size = try log.withView { $0.size }
    #expect(size == 1)
    place.set(.working)
    #expect(try await wait { log.health.isHealthy })
    try await log.append(TrailFixture.records(1..<2))
  }

  @Test("a creation that ended before the first checkpoint is finished by creating again")
  func creatingAgain() async throws {
    let place = FailingPlace()
    let fixture = try TrailFixture(checkpoints: place)
    place.set(.unreachable)
    #expect(throws: AuditError.self) { try fixture.create() }
    place.set(.working)
    // Another window is another trail.
    #expect { try fixture.create(once: .seconds(7)) } throws: { ($0 as? AuditError)?.code == .alreadyExists }
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<3))
    try log.publishCheckpoint()
    #expect { try fixture.create() } throws: { ($0 as? AuditError)?.code == .alreadyExists }
  }

  @Test("entries of a process that ended before it published are covered by the next one")
  func published() async throws {
    var fixture = try TrailFixture()
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<3))
    #expect(log.health.uncheckpointedCount == 3)
    fixture.options.checkpointInterval = .milliseconds(5)
    let next = try fixture.open()
    #expect(try await wait { next.health.uncheckpointedCount == 0 })
  }

  @Test("an anchor is covered by a checkpoint within the interval, as an append is")
  func anchored() async throws {
    var fixture = try TrailFixture()
    fixture.options.checkpointInterval = .milliseconds(5)
    let log = try fixture.create()
    try await log.append(TrailFixture.records(0..<3))
    #expect(try await wait { log.health.uncheckpointedCount == 0 })
    try await log.anchor(original: "1000")
    #expect(try await wait { log.health.uncheckpointedCount == 0 && log.health.isHealthy })
  }
}
