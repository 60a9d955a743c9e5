// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

extension TrailWriter {
  /// Adds cosignatures to a checkpoint, and stores it if it is still the published one.
  ///
  /// The cosignatures that other processes added stay.
  func add(
    _ lines: [NoteSignature], to checkpoint: VerifiedCheckpoint, by witnesses: CosignatureLines
  ) throws(AuditError) -> SignedCheckpoint {
    try locked { state throws(AuditError) in try state.add(lines, to: checkpoint, by: witnesses) }
  }
}

extension WriterState {
  fileprivate mutating func add(
    _ lines: [NoteSignature], to checkpoint: VerifiedCheckpoint, by witnesses: CosignatureLines
  ) throws(AuditError) -> SignedCheckpoint {
    do {
      while true {
        guard let current = try checkpoints.load(following: storage),
          current.checkpoint == checkpoint.checkpoint
        else {
          // A newer checkpoint was published meanwhile; calls that wait for this one get it nevertheless.
          return try witnesses.adding(lines, to: checkpoint.signed)
        }
        let cosigned = try witnesses.adding(lines, to: current.signed)
        if cosigned == checkpoint.signed { return cosigned }
        let verified = try cosigned.verified(by: current.logKey)
        // If another process was faster, there is a new checkpoint to add them to.
        if try replace(current, by: verified) { return cosigned }
      }
    } catch { throw AuditError(error) }
  }

  /// Replaces the published checkpoint by the same one with cosignatures; `false` if it is not the stored one.
  private mutating func replace(
    _ old: VerifiedCheckpoint, by cosigned: VerifiedCheckpoint
  ) throws(AuditError) -> Bool {
    if let stopped { throw stopped }
    do {
      guard try checkpoints.store.replace(old.signed.encoded, with: cosigned.signed.encoded) else {
        return false
      }
      try keep(cosigned)
      return true
    } catch {
      let error = AuditError(error)
      if error.code == .stopped { stopped = error }
      throw error
    }
  }
}
