// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import Synchronization
package import TransparencyLog

extension Witnesses {
  /// `true` if a cosignature is needed, and enough witnesses have a URL to give it.
  var canMakeQuorum: Bool {
    policy.quorum != nil && policy.isSatisfied(by: policy.witnesses.filter { $0.url != nil }.map(\.key))
  }
}

/// Asks the witnesses to cosign the checkpoints of an opened trail, in one round at a time, which waiting calls share.
final class WitnessRounds: Sendable {
  private typealias Outcome = Result<WitnessRound, AuditError>

  private struct Waiter {
    let asksAll: Bool
    let continuation: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var waiting: [Waiter] = []
    var isRunning = false
    var newest: VerifiedCheckpoint?
  }

  private let witnesses: Witnesses
  private let requests: CosignatureRequests
  private let lines: CosignatureLines
  private let writer: TrailWriter
  private let reader: Reader
  private let publisher: Publisher
  private let maximumWaiting: Int
  private let state = Mutex(State())

  init(
    _ witnesses: Witnesses, _ writer: TrailWriter, _ reader: Reader, _ publisher: Publisher,
    maximumWaiting: Int
  ) {
    self.witnesses = witnesses
    requests = CosignatureRequests(witnesses.policy, witnesses.transport)
    lines = CosignatureLines(keys: witnesses.policy.witnesses.map(\.key))
    self.writer = writer
    self.reader = reader
    self.publisher = publisher
    self.maximumWaiting = maximumWaiting
  }

  /// The largest checkpoint that met the quorum.
  var newest: VerifiedCheckpoint? { state.withLock { $0.newest } }

  /// Refuses an append that could never be witnessed, or while too many wait.
  func admit() throws(AuditError) {
    guard witnesses.canMakeQuorum else { throw Self.missing }
    guard state.withLock({ $0.waiting.count }) < maximumWaiting else {
      throw AuditError(
        .overloaded, "\(maximumWaiting) appends wait for the witnesses already. Try again later.")
    }
  }

  static let missing = AuditError(
    .noWitnesses,
    "The trail was opened without witnesses, or the policy gives the URLs of too few of them to make a quorum. "
      + "Nothing was stored."
  )

  /// Joins the next round that begins, with a checkpoint of everything that was appended before the call.
  ///
  /// If it `asksAll`, witnesses are asked although the quorum is met already.
  func join(asksAll: Bool) async throws(AuditError) -> WitnessRound {
    let outcome = await withCheckedContinuation { continuation in
      let starts = state.withLock { state in
        state.waiting.append(Waiter(asksAll: asksAll, continuation: continuation))
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if starts { Task { await run() } }
    }
    return try outcome.get()
  }

  /// Waits until the quorum has cosigned a checkpoint of everything that was appended before the call.
  func makeQuorum() async throws(AuditError) { _ = try await join(asksAll: false).cosigned.get() }

  private func run() async {
    while true {
      let batch = state.withLock { state in
        let batch = state.waiting
        state.waiting = []
        if batch.isEmpty { state.isRunning = false }
        return batch
      }
      guard !batch.isEmpty else { return }
      let outcome = await round(asksAll: batch.contains(where: \.asksAll))
      if case .success(let round) = outcome, case .success(let cosigned) = round.cosigned {
        state.withLock { state in
          if cosigned.checkpoint.size >= state.newest?.checkpoint.size ?? 0 { state.newest = cosigned }
        }
      }
      for waiter in batch { waiter.continuation.resume(returning: outcome) }
    }
  }

  private func round(asksAll: Bool) async -> Outcome {
    let deadline = ContinuousClock.now + witnesses.timeout
    var asked: Checkpoint?
    do throws(AuditError) {
      var attempts = 0
      while true {
        attempts += 1
        let checkpoint = try await BlockingWork.run(publisher.publish)
        let round = try await ask(checkpoint, asksAll: asksAll, until: deadline)
        let isLate = attempts == 5 || ContinuousClock.now >= deadline || asked == checkpoint.checkpoint
        // A witness that saw a newer checkpoint was asked by another process, whose checkpoint can now be loaded.
        guard case .failure = round.cosigned, !isLate, round.refusals.contains(where: { $0.code == .ahead })
        else { return .success(round) }
        asked = checkpoint.checkpoint
      }
    } catch { return .failure(error) }
  }

  private func ask(
    _ checkpoint: VerifiedCheckpoint, asksAll: Bool, until deadline: ContinuousClock.Instant
  ) async throws(AuditError) -> WitnessRound {
    let policy = witnesses.policy
    let cosigners: [NoteVerifierKey]
    let plain: SignedCheckpoint
    do {
      cosigners = try lines.cosigners(of: checkpoint.signed)
      guard asksAll || !policy.isSatisfied(by: cosigners) else {
        return WitnessRound(checkpoint.signed, refusals: [], policy: policy, logKey: checkpoint.logKey)
      }
      plain = try lines.withoutCosignatures(checkpoint.signed)
    } catch { throw AuditError(error) }
    let missing = policy.witnesses.indices.filter { !cosigners.contains(policy.witnesses[$0].key) }
    let size = checkpoint.checkpoint.size
    let answers = await requests.ask(
      missing, for: plain, cosigners: cosigners, until: deadline, gracePeriod: witnesses.gracePeriod
    ) { [reader] oldSize in
      try await reader.read { try $0.consistencyProof(from: oldSize, to: size) }
    }
    let signed = try await BlockingWork.run { [writer, lines] () throws(AuditError) in
      try writer.add(answers.lines, to: checkpoint, by: lines)
    }
    return WitnessRound(signed, refusals: answers.refusals, policy: policy, logKey: checkpoint.logKey)
  }
}

extension WitnessRounds? {
  /// Returns the rounds of the trail's witnesses; throws if the trail was opened without witnesses.
  func required() throws(AuditError) -> WitnessRounds {
    guard let self else { throw WitnessRounds.missing }
    return self
  }

  /// Returns the rounds that a change waits for; `nil` if it waits for no witness.
  func admit(_ mode: AcknowledgementMode) throws(AuditError) -> WitnessRounds? {
    guard mode == .witnessed else { return nil }
    let rounds = try required()
    try rounds.admit()
    return rounds
  }
}

package struct WitnessRound: Sendable {
  /// The checkpoint with its cosignatures; if they do not meet the quorum, ``AuditError/Code/notWitnessed``, which
  /// names the witnesses that refused and their reasons.
  package let cosigned: Result<VerifiedCheckpoint, AuditError>
  /// The refusals of the witnesses that were asked and have not cosigned.
  package let refusals: [WitnessRefusal]

  init(
    _ signed: SignedCheckpoint, refusals: [WitnessRefusal], policy: WitnessPolicy, logKey: NoteVerifierKey
  ) {
    self.refusals = refusals
    do throws(NoteError) {
      cosigned = .success(try policy.verify(signed, logKey: logKey))
    } catch  where error.code == .internalFailure {
      cosigned = .failure(AuditError(error))
    } catch {
      let reasons = refusals.map(\.description).joined(separator: "; ")
      cosigned = .failure(
        AuditError(
          .notWitnessed, at: "checkpoint of \(signed.unverifiedCheckpoint.size) entries",
          "\(error.message)\(reasons.isEmpty ? "" : "; refused by \(reasons)"). "
            + "The entries are stored; ask again later."))
    }
  }
}
