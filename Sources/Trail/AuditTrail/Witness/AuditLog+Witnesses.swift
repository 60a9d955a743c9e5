// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import TransparencyLog

extension AuditLog {
  /// Publishes a checkpoint of all entries, lets the witnesses cosign it, and stores the cosigned checkpoint in its
  /// place.
  ///
  /// Simultaneous calls share a round. A witness that has cosigned this checkpoint before is not asked again.
  ///
  /// - Returns: The checkpoint with the cosignatures, which meet the quorum.
  /// - Throws: ``AuditError``: ``AuditError/Code/notWitnessed``, which names the witnesses that refused and their
  ///   reasons; the cosignatures that were given are kept. ``AuditError/Code/noWitnesses`` if no witnesses are
  ///   configured, and the errors of ``AuditLog/checkpoint()``.
  @discardableResult
  public func collectCosignatures() async throws(AuditError) -> VerifiedCheckpoint {
    try await askWitnesses().cosigned.get()
  }

  /// Does the same as ``collectCosignatures()``, and also returns every refusal, even if the quorum was met.
  ///
  /// - Throws: ``AuditError``: ``AuditError/Code/noWitnesses``, and the errors of ``publishCheckpoint()``.
  package func askWitnesses() async throws(AuditError) -> WitnessRound {
    guard let rounds else { throw Self.withoutWitnesses }
    return try await rounds.join(asksAll: true) { await self.round(asksAll: $0) }.get()
  }

  /// The largest checkpoint for which this process saw the quorum met; `nil` if there is no such checkpoint yet.
  ///
  /// Under load, newer checkpoints that are not cosigned yet soon replace it as the published one. Make proofs for this
  /// one.
  public var witnessedCheckpoint: VerifiedCheckpoint? { rounds?.newest }

  /// Refuses an append that could never be witnessed.
  func admitWitnessed() throws(AuditError) {
    guard let rounds, rounds.witnesses.canMakeQuorum else { throw Self.withoutWitnesses }
    guard rounds.waitingCount < options.maximumWaiting else {
      throw AuditError(
        .overloaded, "\(options.maximumWaiting) appends wait for the witnesses already. Try again later.")
    }
  }

  /// Waits until the quorum has cosigned a checkpoint that includes everything that was appended before the call.
  func makeQuorum() async throws(AuditError) {
    guard let rounds else { throw Self.withoutWitnesses }
    _ = try await rounds.join(asksAll: false) { await self.round(asksAll: $0) }.get().cosigned.get()
  }

  private static var withoutWitnesses: AuditError {
    AuditError(
      .noWitnesses,
      "The trail was opened without witnesses, or the policy gives the URLs of too few of them to make a quorum. "
        + "Nothing was stored."
    )
  }

  // MARK: - A round

  private func round(asksAll: Bool) async -> WitnessRounds.Outcome {
    guard let rounds else { return .failure(Self.withoutWitnesses) }
    let deadline = ContinuousClock.now + rounds.witnesses.timeout
    var asked: Checkpoint?
    do throws(AuditError) {
      var attempts = 0
      while true {
        attempts += 1
        let checkpoint = try await blocking { log throws(AuditError) in try log.publishCheckpoint() }
        let round = try await ask(rounds, checkpoint, asksAll: asksAll, until: deadline)
        let isLate = attempts == 5 || ContinuousClock.now >= deadline || asked == checkpoint.checkpoint
        // A witness that saw a newer checkpoint was asked by another process, whose checkpoint can now be loaded.
        guard case .failure = round.cosigned, !isLate, round.refusals.contains(where: { $0.code == .ahead })
        else { return .success(round) }
        asked = checkpoint.checkpoint
      }
    } catch { return .failure(error) }
  }

  private func ask(
    _ rounds: WitnessRounds, _ checkpoint: VerifiedCheckpoint, asksAll: Bool,
    until deadline: ContinuousClock.Instant
  ) async throws(AuditError) -> WitnessRound {
    let policy = rounds.witnesses.policy
    let lines = CosignatureLines(keys: policy.witnesses.map(\.key))
    let cosigners: [NoteVerifierKey]
    do throws(NoteError) { cosigners = try lines.cosigners(of: checkpoint.signed) } catch {
      throw AuditError(error)
    }
    guard asksAll || !policy.isSatisfied(by: cosigners) else {
      return WitnessRound(checkpoint.signed, refusals: [], policy: policy, logKey: checkpoint.logKey)
    }
    let plain: SignedCheckpoint
    do { plain = try lines.withoutCosignatures(checkpoint.signed) } catch { throw AuditError(error) }
    let missing = policy.witnesses.indices.filter { !cosigners.contains(policy.witnesses[$0].key) }
    let size = checkpoint.checkpoint.size
    let answers = await rounds.requests.ask(
      missing, for: plain, cosigners: cosigners, until: deadline, gracePeriod: rounds.witnesses.gracePeriod
    ) { oldSize in
      try await self.read { try $0.consistencyProof(from: oldSize, to: size) }
    }
    let signed = try await blocking { log throws(AuditError) in
      try log.change { writer throws(AuditError) in
        try writer.add(answers.lines, to: checkpoint, by: lines)
      }
    }
    return WitnessRound(signed, refusals: answers.refusals, policy: policy, logKey: checkpoint.logKey)
  }

  /// Runs blocking work outside the threads that tasks share.
  func blocking<Value: Sendable>(
    _ body: @escaping @Sendable (AuditLog) throws(AuditError) -> Value
  ) async throws(AuditError) -> Value {
    let result: Result<Value, AuditError> = await withCheckedContinuation { continuation in
      Self.witnessing.async {
        continuation.resume(returning: Result { () throws(AuditError) in try body(self) })
      }
    }
    return try result.get()
  }

  private static let witnessing = DispatchQueue(
    label: "receiptkit.audit-log.witnesses", attributes: .concurrent)
}

extension TrailView {
  /// Returns a proof that the entry at `index` is in the tree of a checkpoint of this trail, together with that
  /// checkpoint and its cosignatures.
  ///
  /// - Throws: ``AuditError/Code/noSuchEntry`` if the entry is newer than the checkpoint, ``AuditError/Code/forked`` if
  ///   the trail contradicts it.
  public func proof(of index: UInt64, in checkpoint: VerifiedCheckpoint) throws -> LogProof {
    let size = checkpoint.checkpoint.size
    guard index < size else {
      throw AuditError(
        .noSuchEntry, at: "entry \(index)", "The checkpoint has \(size) entries; the first is entry 0.")
    }
    guard size <= self.size, try root(size: size) == checkpoint.checkpoint.root else {
      throw AuditError(.forked, at: "entries below \(size)", "The checkpoint is not of this trail.")
    }
    return try verifiedProof(of: index, in: checkpoint)
  }
}
