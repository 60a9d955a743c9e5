// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TransparencyLog

/// Asks the witnesses of a trail, in one round at a time.
///
/// All calls that wait for cosignatures when a round begins share it.
final class WitnessRounds: Sendable {
  typealias Outcome = Result<WitnessRound, AuditError>

  private struct Waiter {
    /// `true` if witnesses are asked although the quorum is met already.
    let asksAll: Bool
    let continuation: CheckedContinuation<Outcome, Never>
  }

  private struct State {
    var waiting: [Waiter] = []
    var isRunning = false
    var newest: VerifiedCheckpoint?
  }

  let witnesses: Witnesses
  let requests: CosignatureRequests
  private let state = Mutex(State())

  init(_ witnesses: Witnesses) {
    self.witnesses = witnesses
    requests = CosignatureRequests(witnesses.policy, witnesses.transport)
  }

  /// The largest checkpoint that met the quorum.
  var newest: VerifiedCheckpoint? { state.withLock { $0.newest } }

  /// The number of waiting calls.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Joins the next round that begins.
  ///
  /// - Parameters:
  ///   - asksAll: `true` if witnesses are asked although the quorum is met already.
  ///   - body: Runs one round. The closure of the call that starts the work is used.
  /// - Returns: The result of the round.
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
}
