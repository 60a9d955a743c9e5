// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Synchronization
import Testing
import TransparencyLog

/// A witness that is slow, broken or lies is named, not counted, and costs neither time nor memory.
@Suite("Hostile witnesses", .timeLimit(.minutes(10)))
struct HostileWitnessTests {
  private var trail: TrailFixture
  private let witnesses: WitnessFixture

  init() throws {
    trail = try TrailFixture()
    witnesses = try WitnessFixture(of: trail.signer.verifierKey)
    trail.options.witnesses = witnesses.witnesses(gracePeriod: .milliseconds(50))
  }

  /// Witness 1 does what is said, witness 2 is down: the quorum rests on witness 1.
  @Test(arguments: Deed.allCases)
  func isNamedAndNotCounted(_ deed: Deed) async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<40))
    try await log.collectCosignatures()
    try await log.append(TrailFixture.records(40..<50))
    witnesses.stop(2)
    let before = witnesses.requestCount(1)
    witnesses.answer(as: 1, deed.handler(witnesses.keys[1], trail.signer))
    var impatient = trail
    if deed == .sleeps { impatient.options.witnesses = witnesses.witnesses(timeout: .milliseconds(300)) }
    let start = ContinuousClock.now
    let round = try await impatient.open().askWitnesses()
    #expect(ContinuousClock.now - start < .seconds(300))
    #expect(throws: AuditError.self) { try round.cosigned.get() }
    #expect(round.refusals.first { $0.witness == "w1" }?.code == deed.code)
    #expect(witnesses.requestCount(1) - before <= 4)
    // With the third the quorum is met without it.
    witnesses.answer(
      as: 2, WitnessFixture.honest(witnesses.keys[2], trail.signer.verifierKey, witnesses.stores[2]))
    let cosigned = try await log.collectCosignatures()
    #expect(cosigned.checkpoint.size == 50)
    #expect(!cosigned.cosignatures.map(\.key).contains(witnesses.keys[1].cosignatureVerifierKey))
  }

  @Test func oneThatNeverAnswersIsAskedOnceAtATime() async throws {
    let log = try trail.create()
    let gate = Gate()
    // It heeds neither its timeout nor the cancellation of its task.
    witnesses.answer(as: 1) { _ throws(WitnessTransportError) in
      await gate.wait()
      throw WitnessTransportError(.unreachable, "the connection ended")
    }
    var number = 0
    func cosigners() async throws -> [NoteVerifierKey] {
      number += 1
      try await log.append([TrailFixture.record(number)])
      return try await log.collectCosignatures().cosignatures.map(\.key)
    }
    while witnesses.requestCount(1) == 0 { _ = try await cosigners() }
    for _ in 0..<5 { #expect(try await cosigners().count == 2) }
    #expect(witnesses.requestCount(1) == 1)
    witnesses.answer(
      as: 1, WitnessFixture.honest(witnesses.keys[1], trail.signer.verifierKey, witnesses.stores[1]))
    gate.open()
    // It counts again, though in a round that others have made the quorum of it may come too late.
    while try await !cosigners().contains(witnesses.keys[1].cosignatureVerifierKey) {}
  }

  @Test func theOthersAreNotWaitedForLong() async throws {
    let log = try trail.create()
    try await log.append(TrailFixture.records(0..<4))
    witnesses.answer(as: 0) { _ throws(WitnessTransportError) in
      try? await Task.sleep(for: .seconds(600))
      throw WitnessTransportError(.timedOut, "too late")
    }
    let start = ContinuousClock.now
    #expect(try await log.collectCosignatures().cosignatures.count == 2)
    #expect(ContinuousClock.now - start < .seconds(300))
  }

  /// The faults of a witness, with the code that each is reported with.
  enum Deed: CaseIterable {
    case signatureOfAnotherKey, signatureOfAnotherCheckpoint, alteredSignature, noSignature,
      strangersSignature
    case huge, garbage, conflictForEver, conflictWithoutType, conflictBeyond, forked, teapot, sleeps,
      badRequest
    case inconsistent, untrusting

    var code: WitnessRefusal.Code {
      switch self {
      case .signatureOfAnotherKey, .signatureOfAnotherCheckpoint, .alteredSignature, .strangersSignature:
        .wrongSignature
      case .noSignature, .garbage, .conflictWithoutType: .malformedAnswer
      case .huge: .tooLarge
      case .conflictForEver: .unsettled
      case .conflictBeyond: .ahead
      case .forked: .forked
      case .teapot: .unexpectedStatus
      case .sleeps: .timedOut
      case .badRequest: .badRequest
      case .inconsistent: .inconsistent
      case .untrusting: .notTrusted
      }
    }

    func handler(_ key: NoteSignerKey, _ log: NoteSignerKey) -> WitnessFixture.Handler {
      let conflicts = Mutex<UInt64>(0)
      return { body throws(WitnessTransportError) in
        do {
          return try await respond(key, try AddCheckpointRequest(parsing: body), conflicts)
        } catch { throw WitnessTransportError(.unreachable, "\(error)") }
      }
    }

    private func respond(
      _ key: NoteSignerKey, _ request: AddCheckpointRequest, _ conflicts: borrowing Mutex<UInt64>
    ) async throws -> WitnessResponse {
      let checkpoint = request.checkpoint.unverifiedCheckpoint
      func lines(_ lines: NoteSignature...) -> WitnessResponse {
        WitnessResponse(status: 200, body: AddCheckpointResponse.cosigned(lines).body)
      }
      func conflict(_ size: UInt64) -> WitnessResponse {
        WitnessResponse(status: 409, contentType: "text/x.tlog.size", body: Array("\(size)\n".utf8))
      }
      switch self {
      case .signatureOfAnotherKey:
        let other = try NoteSignerKey.generate(name: key.name)
        let forged = try checkpoint.cosigned(by: other, timestamp: 1).line
        // The name and the ID of the right key, and the end of another's signature.
        let own = try checkpoint.cosigned(by: key, timestamp: 1).line
        return lines(try NoteSignature(line: String(own.dropLast(40) + forged.suffix(40))))
      case .signatureOfAnotherCheckpoint:
        let other = try Checkpoint(
          origin: checkpoint.origin, size: checkpoint.size - 1, root: checkpoint.root)
        return lines(try other.cosigned(by: key, timestamp: 1))
      case .alteredSignature:
        let line = try checkpoint.cosigned(by: key, timestamp: 1).line
        let middle = line.index(line.endIndex, offsetBy: -20)
        return lines(
          try checkpoint.cosigned(by: key, timestamp: 1),
          try NoteSignature(
            line: "\(line[..<middle])\(line[middle] == "A" ? "B" : "A")\(line[middle...].dropFirst())"))
      case .noSignature: return WitnessResponse(status: 200)
      case .strangersSignature:
        return lines(try checkpoint.cosigned(by: .generate(name: "stranger.example"), timestamp: 1))
      case .huge: return WitnessResponse(status: 200, body: [UInt8](repeating: 0x41, count: 10_000_000))
      case .garbage: return WitnessResponse(status: 200, body: Array("— w1 !!!\n".utf8))
      case .conflictForEver:
        return conflict(
          conflicts.withLock {
            $0 += 1; return $0
          })
      case .conflictWithoutType: return WitnessResponse(status: 409, body: Array("3\n".utf8))
      case .conflictBeyond: return conflict(.max)
      case .forked: return conflict(request.oldSize)
      case .teapot: return WitnessResponse(status: 418)
      case .sleeps:
        try await Task.sleep(for: .seconds(600))
        return WitnessResponse(status: 200)
      case .badRequest: return WitnessResponse(status: 400)
      case .inconsistent: return WitnessResponse(status: 422)
      case .untrusting: return WitnessResponse(status: 403)
      }
    }
  }

  /// Tasks wait here until it is opened, cancelled or not.
  private final class Gate: Sendable {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    func wait() async { await withCheckedContinuation { task in waiting.withLock { $0.append(task) } } }

    func open() {
      for task in waiting.withLock({ $0 }) { task.resume() }
    }
  }
}
