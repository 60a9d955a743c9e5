// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Requests to the witnesses of a policy for their cosignatures, to all at once.
package final class CosignatureRequests: Sendable {
  private struct State {
    /// For each witness the size that it cosigned last, as far as is known.
    var latestSizes: [UInt64]
    /// The witnesses that have not answered yet, perhaps since an earlier call.
    var asked: Set<Int> = []
  }

  private let policy: WitnessPolicy
  private let transport: any WitnessTransport
  private let state: Mutex<State>

  package init(_ policy: WitnessPolicy, _ transport: any WitnessTransport) {
    self.policy = policy
    self.transport = transport
    state = Mutex(State(latestSizes: Array(repeating: 0, count: policy.witnesses.count)))
  }

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
  ///   - gracePeriod: How long the others are waited for once the quorum is met.
  ///   - proof: The consistency proof from a size.
  /// - Returns: The lines of those who cosigned, verified, and why the others did not.
  package func ask(
    _ indices: [Int], for checkpoint: SignedCheckpoint, cosigners: [NoteVerifierKey],
    until deadline: ContinuousClock.Instant,
    gracePeriod: Duration, proof: @escaping @Sendable (UInt64) async throws -> [TreeHash]
  ) async -> (lines: [NoteSignature], refusals: [WitnessRefusal]) {
    guard !indices.isEmpty else { return ([], []) }
    let (events, continuation) = AsyncStream.makeStream(of: Event.self)
    var tasks = indices.map { index in
      Task {
        let conversation = WitnessConversation(
          witness: policy.witnesses[index], transport: transport, checkpoint: checkpoint,
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
        let wasQuorum = policy.isSatisfied(by: signers)
        lines.append(line)
        signers.append(policy.witnesses[index].key)
        if !wasQuorum, policy.isSatisfied(by: signers) {
          tasks.append(wait(min(deadline, .now + gracePeriod)))
        }
      }
      if unanswered.isEmpty { break }
    }
    refusals += unanswered.map {
      WitnessRefusal(policy.witnesses[$0].label, .timedOut, "it did not answer in time")
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
