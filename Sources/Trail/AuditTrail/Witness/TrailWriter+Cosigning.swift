// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

extension TrailWriter {
  /// Adds cosignatures to a checkpoint, and stores it if it is still the published one.
  ///
  /// The cosignatures that other processes added stay.
  ///
  /// - Returns: The checkpoint with its cosignatures.
  mutating func add(
    _ lines: [NoteSignature], to checkpoint: VerifiedCheckpoint, by witnesses: CosignatureLines
  ) throws(AuditError) -> SignedCheckpoint {
    do {
      while true {
        guard let current = try publishedCheckpoint(), current.checkpoint == checkpoint.checkpoint else {
          // A newer checkpoint was published meanwhile; calls that wait for this one get it nevertheless.
          return try witnesses.adding(lines, to: checkpoint.signed)
        }
        let cosigned = try witnesses.adding(lines, to: current.signed)
        if cosigned == checkpoint.signed { return cosigned }
        let verified = try cosigned.verified(by: current.logKey)
        // If another process was faster, there is a new checkpoint to add them to.
        if try keep(verified, insteadOf: current) { return cosigned }
      }
    } catch { throw AuditError(error) }
  }
}
