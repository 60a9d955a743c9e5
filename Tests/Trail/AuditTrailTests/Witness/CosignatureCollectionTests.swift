// SPDX-License-Identifier: Apache-2.0

import AuditTrailTesting
import Testing
import TransparencyLog

@testable import AuditTrail

@Suite("Collecting cosignatures", .timeLimit(.minutes(10)))
struct CosignatureCollectionTests {
  private var trail: TrailFixture
  private let witnesses: WitnessFixture

  init() throws {
    trail = try TrailFixture()
    witnesses = try WitnessFixture(of: trail.signer.verifierKey)
    trail.options.witnesses = witnesses.witnesses()
  }

  private func stored() throws -> SignedCheckpoint {
    try SignedCheckpoint(parsing: #require(try trail.checkpoints.load()))
  }

  private func faults() throws -> [TrailFault] {
    try TrailChecker(
      storage: trail.storage, verifier: trail.signer.verifierKey, checkpoints: trail.checkpoints
    ).check().faults
  }

  @Test func theCosignedCheckpointTakesThePlaceOfThePublishedOne() async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<10))
    let cosigned = try await log.collectCosignatures()
    #expect(cosigned.checkpoint.size == 10)
    #expect(Set(cosigned.cosignatures.map(\.key)) == Set(witnesses.policy.witnesses.map(\.key)))
    #expect(try stored() == cosigned.signed)
    #expect(try log.withView { $0.checkpoint?.signed } == cosigned.signed)
    #expect(log.witnessedCheckpoint == cosigned)
    #expect(try faults() == [])
    // A cosigned checkpoint stays cosigned after reopening, and no witness is asked again.
    try log.close()
    #expect(try stored() == cosigned.signed)
  }

  @Test func asksOnlyWhoHasNotCosignedYet() async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<3))
    witnesses.stop(1)
    let round = try await log.askWitnesses()
    #expect(try round.cosigned.get().cosignatures.count == 2)
    #expect(round.refusals.map(\.description) == ["w1 (unreachable: nobody listens)"])
    witnesses.answer(
      as: 1,
      WitnessFixture.honest(witnesses.keys[1], trail.signer.verifierKey, witnesses.stores[1]))
    #expect(try await log.collectCosignatures().cosignatures.count == 3)
    #expect((0..<3).map(witnesses.requestCount) == [1, 2, 1])
  }

  @Test func provesThatTheTrailContinuesWhatTheWitnessSawLast() async throws {
    let log = try trail.create()
    // Sizes around those of bundles; a fresh process has to be told the size at first.
    var size = 0
    for next in [1, 255, 256, 257, 600] {
      try await log.append(TrailFixture.records(size..<next))
      size = next
      #expect(try await log.collectCosignatures().checkpoint.size == UInt64(next))
    }
    #expect((0..<3).map(witnesses.requestCount) == [5, 5, 5])
    let again = try trail.open()
    try await again.append(TrailFixture.records(600..<700))
    #expect(try await again.collectCosignatures().cosignatures.count == 3)
    #expect((0..<3).map(witnesses.requestCount) == [7, 7, 7])
  }

  @Test func namesWhoRefusedAndKeepsWhatThereIs() async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<3))
    witnesses.stop(0)
    let stranger = try NoteSignerKey.generate(name: "stranger.example/log")
    witnesses.answer(
      as: 2, WitnessFixture.honest(witnesses.keys[2], stranger.verifierKey, witnesses.stores[2]))
    let error = await #expect(throws: AuditError.self) { try await log.collectCosignatures() }
    #expect(error?.code == .notWitnessed)
    #expect(error?.place == "checkpoint of 3 entries")
    #expect(
      error?.message == "cosigned by 1 of 3 witnesses, which is not the quorum; refused by w0 (unreachable: "
        + "nobody listens); w2 (unknown-log: it does not know the trail (404)). The entries are stored; ask again "
        + "later."
        || error?.message.contains("w2 (unknown-log: it does not know the trail (404)); w0") == true)
    #expect(try stored().cosignatures(by: witnesses.policy.witnesses.map(\.key)).count == 1)
    #expect(log.witnessedCheckpoint == nil)
  }

  @Test func cosignaturesOfAnotherProcessStay() async throws {
    let first = try trail.create()
    try await first.append(TrailFixture.records(0..<20))
    for index in [1, 2] { witnesses.stop(index) }
    await #expect(throws: AuditError.self) { try await first.collectCosignatures() }
    let other = try WitnessFixture(of: trail.signer.verifierKey)
    var second = trail
    second.options.witnesses = other.witnesses()
    let cosigned = try await second.open().collectCosignatures()
    #expect(cosigned.signed.note.signatures.count == 5)
    for index in [1, 2] {
      witnesses.answer(
        as: index,
        WitnessFixture.honest(witnesses.keys[index], trail.signer.verifierKey, witnesses.stores[index]))
    }
    let all = try await first.collectCosignatures()
    #expect(all.signed.note.signatures.count == 7)
    #expect(try other.policy.verify(stored(), logKey: trail.signer.verifierKey).cosignatures.count == 3)
    #expect(try witnesses.policy.verify(stored(), logKey: trail.signer.verifierKey).cosignatures.count == 3)
  }

  /// A verifier with the policy would refuse the whole checkpoint because of it.
  @Test func aForgedCosignatureInThePlaceGoes() async throws {
    let log = try trail.create()
    let other = try log.publishCheckpoint().checkpoint
    try await log.append(TrailFixture.records(0..<5))
    let published = try log.publishCheckpoint().signed
    let forged = try published.adding([other.cosigned(by: witnesses.keys[0], timestamp: 1)])
    #expect(try trail.checkpoints.replace(published.encoded, with: forged.encoded))
    #expect(try await log.collectCosignatures().cosignatures.count == 3)
    #expect(try witnesses.policy.verify(stored(), logKey: trail.signer.verifierKey).cosignatures.count == 3)
  }

  @Test func acceptsWhatAnotherProcessPublishedMeanwhile() async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<5))
    let other = try trail.open()
    // While the first round is under way, the other process appends, and is cosigned before.
    let honest = WitnessFixture.honest(witnesses.keys[0], trail.signer.verifierKey, witnesses.stores[0])
    witnesses.answer(as: 0) { [witnesses] body throws(WitnessTransportError) in
      witnesses.answer(as: 0, honest)
      do {
        try await other.append(TrailFixture.records(5..<9), acknowledgement: .witnessed)
      } catch { throw WitnessTransportError(.unreachable, "\(error)") }
      return try await honest(body)
    }
    for index in [1, 2] {
      let honest = WitnessFixture.honest(
        witnesses.keys[index], trail.signer.verifierKey, witnesses.stores[index])
      witnesses.answer(as: index) { [store = witnesses.stores[0]] body throws(WitnessTransportError) in
        if !String(decoding: body, as: UTF8.self).contains("\n9\n") {
          while store.load() == nil { await Task.yield() }
          try? await Task.sleep(for: .milliseconds(50))
        }
        return try await honest(body)
      }
    }
    #expect(try await log.collectCosignatures().checkpoint.size == 9)
  }

  /// The stored copy of the checkpoint may lack what its place has: a crash between both leaves that.
  @Test func theCheckOfTheTrailKnowsCosignatures() async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<5))
    let published = try log.publishCheckpoint()
    try await log.collectCosignatures()
    try trail.storage.write { try $0.put(.notes, TrailNotes.checkpoint, published.signed.encoded) }
    #expect(try faults() == [])
    // A cosignature that its place never had was altered.
    let stranger = try NoteSignerKey.generate(name: "stranger.example")
    let altered = try published.signed.adding([published.checkpoint.cosigned(by: stranger, timestamp: 1)])
    try trail.storage.write { try $0.put(.notes, TrailNotes.checkpoint, altered.encoded) }
    #expect(try faults().map(\.place) == ["notes"])
  }

  @Test func needsWitnesses() async throws {
    var trail = trail
    trail.options.witnesses = nil
    let error = await #expect(throws: AuditError.self) { try await trail.create().collectCosignatures() }
    #expect(error?.code == .noWitnesses)
  }
}
