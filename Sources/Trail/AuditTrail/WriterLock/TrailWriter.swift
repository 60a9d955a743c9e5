// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TransparencyLog

/// The only writer of a process: it changes the trail and publishes its checkpoints, one at a time.
///
/// Everything that runs under its lock is in this folder. An operation blocks.
final class TrailWriter: Sendable {
  let storage: any TrailStorage
  let context: TrailContext
  let flushInterval: UInt64
  /// The state that the writer has reached, and the state that readers see.
  let states: KnownStates
  private let state: Mutex<WriterState>

  /// Reads the trail, and compares it with the last published checkpoint.
  init(
    _ storage: any TrailStorage, trusting verifier: NoteVerifierKey, _ signer: NoteSignerKey?,
    _ checkpoints: any CheckpointStore, _ options: AuditLog.Options
  ) throws {
    let keys = try storage.read {
      try TrailKeys(reading: $0, trusting: verifier, signer: signer, fingerprintBits: options.fingerprintBits)
    }
    context = TrailContext(keys: keys, writer: UInt64.random(in: 1...UInt64.max))
    flushInterval = options.flushInterval
    let state = try WriterState(storage, context, checkpoints)
    guard let written = state.written else { throw AuditError(.closed, "The trail is closed.") }
    self.storage = storage
    states = KnownStates(written, durable: state.durable)
    self.state = Mutex(state)
  }

  /// The error that stopped writing, if it has stopped, and the number of entries that the checkpoint covers that was
  /// last seen in its store.
  var status: (stopped: AuditError?, checkpointSize: UInt64) {
    state.withLock { ($0.stopped, $0.checkpoint?.checkpoint.size ?? 0) }
  }

  /// Changes what the writer knows or has written, and shows readers the new state if it is durable.
  func locked<Result: Sendable>(
    _ body: (inout WriterState) throws(AuditError) -> Result
  ) throws(AuditError) -> Result {
    let outcome: Swift.Result<Result, AuditError> = state.withLock { state in
      let outcome = Swift.Result { () throws(AuditError) in try body(&state) }
      states.remove(state.removed)
      state.removed = []
      if let now = state.written { states.take(now) }
      return outcome
    }
    return try outcome.get()
  }

  /// Syncs, without the lock, everything that this process wrote, unless readers see the entry at `index` already.
  func synchronize(upTo index: UInt64 = .max) throws(AuditError) {
    // Entries that readers see are durable, so a batch that only repeats such entries has nothing to wait for.
    guard index >= states.published.head.size else { return }
    do { try states.synchronize(storage) } catch {
      throw state.withLock { $0.stop(after: error) }
    }
  }

  /// Catches up with the writes of other processes, and syncs them, since these processes may not have done so yet.
  func refresh() throws(AuditError) {
    try locked { state throws(AuditError) in
      do { try state.refresh() } catch { throw AuditError(error) }
    }
  }
}
