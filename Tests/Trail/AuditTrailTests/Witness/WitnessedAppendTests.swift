// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Testing
import TransparencyLog

@Suite("Witnessed appends", .timeLimit(.minutes(10)))
struct WitnessedAppendTests {
  private var trail: TrailFixture
  private let witnesses: WitnessFixture

  init() throws {
    trail = try TrailFixture()
    witnesses = try WitnessFixture(of: trail.signer.verifierKey)
    trail.options.witnesses = witnesses.witnesses()
  }

  @Test func returnsWhenAQuorumCosignedTheEntry() async throws {
    let log = try trail.create()
    let place = try await log.append(TrailFixture.records(0..<1), acknowledgement: .witnessed)[0]
    let checkpoint = try #require(log.witnessedCheckpoint)
    let proof = try log.withView { try $0.proof(of: place.index, in: checkpoint) }
    let entry = try log.withView { try $0.entry(at: place.index).bytes }
    let policy = try WitnessPolicy(
      logs: [trail.signer.verifierKey], witnesses: witnesses.keys.map(\.cosignatureVerifierKey), threshold: 2)
    #expect(try LogProof(parsing: proof.encoded).verify(entry: entry, policy: policy).index == 0)
    // The same again is witnessed already.
    let again = try await log.append(TrailFixture.records(0..<1), acknowledgement: .witnessed)[0]
    #expect(again.isRepeat)
    #expect((0..<3).map(witnesses.requestCount) == [1, 1, 1])
  }

  @Test func manyShareARound() async throws {
    let log = try trail.create()
    let slow = witnesses.stores.indices.map {
      WitnessFixture.honest(witnesses.keys[$0], trail.signer.verifierKey, witnesses.stores[$0])
    }
    for index in slow.indices {
      witnesses.answer(as: index) { body throws(WitnessTransportError) in
        try? await Task.sleep(for: .milliseconds(20))
        return try await slow[index](body)
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          let place = try await log.append([TrailFixture.record(number)], acknowledgement: .witnessed)[0]
          let witnessed = try #require(log.witnessedCheckpoint)
          #expect(witnessed.checkpoint.size > place.index)
        }
      }
      try await group.waitForAll()
    }
    #expect(witnesses.requestCount(0) < 100)
  }

  @Test func isAnErrorWithoutWitnessesBeforeAnythingIsStored() async throws {
    let policyWithoutURLs = try WitnessPolicy(
      logs: [], witnesses: witnesses.keys.map(\.cosignatureVerifierKey), threshold: 1)
    let noneNeeded = try WitnessPolicy(logs: [])
    let log = try trail.create()
    for configured in [nil, policyWithoutURLs, noneNeeded] {
      var other = trail
      other.options.witnesses = configured.map { Witnesses(policy: $0, transport: witnesses) }
      let log = try other.open()
      let error = await #expect(throws: AuditError.self) {
        try await log.append(TrailFixture.records(0..<1), acknowledgement: .witnessed)
      }
      #expect(error?.code == .noWitnesses)
    }
    #expect(try log.withView { $0.size } == 0)
  }

  @Test func theEntryIsStoredWhereTheWitnessesRefuse() async throws {
    let log = try trail.create()
    for index in [0, 1] { witnesses.stop(index) }
    let error = await #expect(throws: AuditError.self) {
      try await log.append(TrailFixture.records(0..<2), acknowledgement: .witnessed)
    }
    #expect(error?.code == .notWitnessed)
    #expect(try log.withView { $0.size } == 2)
    for index in [0, 1] {
      witnesses.answer(
        as: index,
        WitnessFixture.honest(witnesses.keys[index], trail.signer.verifierKey, witnesses.stores[index]))
    }
    let places = try await log.append(TrailFixture.records(0..<2), acknowledgement: .witnessed)
    #expect(places.map(\.index) == [0, 1])
    #expect(places.map(\.isRepeat) == [true, true])
  }
}
