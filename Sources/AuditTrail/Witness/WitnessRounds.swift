// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TransparencyLog

/// Asks the witnesses of a trail, in one round at a time: whoever waits for cosignatures when a round begins shares
/// it.
final class WitnessRounds: Sendable {
  typealias Outcome = Result<WitnessRound, AuditError>

  private struct Waiter {
    /// Whether witnesses are asked although the quorum is met already.
    let asksAll: Bool
    let continuation: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var waiting: [Waiter] = []
    var isRunning = false
    /// For each witness what it is thought to have cosigned last.
    var latestSizes: [UInt64]
    /// The witnesses that have not answered yet, perhaps since an earlier round.
    var asked: Set<Int> = []
    var newest: VerifiedCheckpoint?
  }

  let witnesses: Witnesses
  private let state: Mutex<State>

  init(_ witnesses: Witnesses) {
    self.witnesses = witnesses
    state = Mutex(State(latestSizes: Array(repeating: 0, count: witnesses.policy.witnesses.count)))
  }

  /// The checkpoint with the most entries that made the quorum.
  var newest: VerifiedCheckpoint? { state.withLock { $0.newest } }

  /// The calls that wait.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Takes part in the next round to begin.
  ///
  /// - Parameters:
  ///   - asksAll: Whether witnesses are asked although the quorum is met already.
  ///   - body: One round. That of whoever starts the work is used.
  /// - Returns: What came of the round.
  func join(asksAll: Bool, round body: @escaping @Sendable (Bool) async -> Outcome) async -> Outcome {
    await withCheckedContinuation { continuation in
      let starts = state.withLock { state in
        state.waiting.append(Waiter(asksAll: asksAll, continuation: continuation))
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if starts { Task { await run(body) } }
    }
  }

  private func run(_ body: @Sendable (Bool) async -> Outcome) async {
    while true {
      let batch = state.withLock { state in
        let batch = state.waiting
        state.waiting = []
        if batch.isEmpty { state.isRunning = false }
        return batch
      }
      guard !batch.isEmpty else { return }
      let outcome = await body(batch.contains(where: \.asksAll))
      if case .success(let round) = outcome, case .success(let cosigned) = round.cosigned {
        state.withLock { state in
          if cosigned.checkpoint.size >= state.newest?.checkpoint.size ?? 0 { state.newest = cosigned }
        }
      }
      for waiter in batch { waiter.continuation.resume(returning: outcome) }
    }
  }

  // MARK: - Asking

  private enum Event: Sendable {
    case answered(Int, Result<NoteSignature, WitnessRefusal>)
    case timeUp
  }

  /// Asks all at once, and returns when all have answered, when the quorum is met and the others were waited for a
  /// little, or when the time is up, whatever the transport does.
  ///
  /// - Parameters:
  ///   - indices: Which witnesses, by their place in the policy.
  ///   - checkpoint: As the log signed it.
  ///   - cosigners: Who cosigned before.
  ///   - deadline: When the time is up.
  ///   - proof: The consistency proof from a size.
  /// - Returns: The lines of those who cosigned, verified, and why the others did not.
  func ask(
    _ indices: [Int], for checkpoint: SignedCheckpoint, cosigners: [NoteVerifierKey],
    until deadline: ContinuousClock.Instant, proof: @escaping @Sendable (UInt64) async throws -> [TreeHash]
  ) async -> (lines: [NoteSignature], refusals: [WitnessRefusal]) {
    guard !indices.isEmpty else { return ([], []) }
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    var tasks = indices.map { index in
      Task {
        let conversation = WitnessConversation(
          witness: witnesses.policy.witnesses[index], transport: witnesses.transport, checkpoint: checkpoint,
          deadline: deadline, proof: proof)
        continuation.yield(.answered(index, await answer(index, conversation)))
      }
    }
    let wait = { (end: ContinuousClock.Instant) in
      Task {
        try? await Task.sleep(until: end, clock: .continuous)
        _ = continuation.yield(.timeUp)
      }
    }
    tasks.append(wait(deadline))
    defer {
      for task in tasks { task.cancel() }
      continuation.finish()
    }
    var unanswered = indices
    var lines: [NoteSignature] = []
    var refusals: [WitnessRefusal] = []
    var signers = cosigners
    for await event in events {
      guard case .answered(let index, let result) = event else { break }
      unanswered.removeAll { $0 == index }
      switch result {
      case .failure(let refusal): refusals.append(refusal)
      case .success(let line):
        let wasQuorum = witnesses.policy.isSatisfied(by: signers)
        lines.append(line)
        signers.append(witnesses.policy.witnesses[index].key)
        if !wasQuorum, witnesses.policy.isSatisfied(by: signers) {
          tasks.append(wait(min(deadline, .now + witnesses.patience)))
        }
      }
      if unanswered.isEmpty { break }
    }
    refusals += unanswered.map {
      WitnessRefusal(witnesses.policy.witnesses[$0].label, .timedOut, "it did not answer in time")
    }
    return (lines, refusals)
  }

  /// Holds one conversation with a witness, once it has answered what it was asked in earlier rounds. One that
  /// never does so keeps a single call of the transport waiting, however many rounds there are.
  private func answer(
    _ index: Int, _ conversation: WitnessConversation
  ) async -> Result<NoteSignature, WitnessRefusal> {
    while !state.withLock({ $0.asked.insert(index).inserted }) {
      guard .now < conversation.deadline, (try? await Task.sleep(for: .milliseconds(5))) != nil else {
        return .failure(
          WitnessRefusal(conversation.witness.label, .busy, "it has not answered what it was asked before"))
      }
    }
    let outcome = await conversation.ask(latestSize: state.withLock { $0.latestSizes[index] })
    state.withLock { state in
      state.latestSizes[index] = outcome.latestSize
      state.asked.remove(index)
    }
    return outcome.line
  }
}
