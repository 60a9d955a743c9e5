// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Requests the cosignatures of a policy's witnesses concurrently.
package final class CosignatureRequests: Sendable {
  private struct State {
    /// The size that each witness cosigned last; 0 if unknown.
    var latestSizes: [UInt64]
    /// The witnesses with an unanswered request, which may be from an earlier call.
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

  /// The answer of a witness; `nil` if the time is up.
  private typealias Event = (index: Int, result: Result<NoteSignature, WitnessRefusal>)?

  /// Asks the witnesses concurrently. It returns when all have answered, when the grace period ends after the quorum is
  /// met, or at the deadline, even if calls of the transport have not returned. `proof` makes the consistency proof
  /// from a tree of the given size to the checkpoint.
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
        continuation.yield((index, await answer(index, conversation)))
      }
    }
    let wait = { (end: ContinuousClock.Instant) in
      Task {
        try? await Task.sleep(until: end, clock: .continuous)
        _ = continuation.yield(nil)
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
      guard let (index, result) = event else { break }
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

  /// Runs one conversation with a witness, after it has answered the requests of earlier rounds. A witness that never
  /// answers therefore occupies at most one call of the transport, however many rounds there are.
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
