// SPDX-License-Identifier: Apache-2.0

/// Assigns the signature lines of checkpoints to the witnesses that made them.
package struct CosignatureLines: Sendable {
  let keys: [NoteVerifierKey]

  package init(keys: [NoteVerifierKey]) { self.keys = keys }

  /// The witness that a line names. The line is not verified.
  package func key(namedBy line: NoteSignature) -> NoteVerifierKey? { keys.first { $0.isNamed(by: line) } }

  /// Returns `true` if a line is a valid cosignature by `key` on a checkpoint, with a time other than 0.
  package func isCosignature(
    _ line: NoteSignature, by key: NoteVerifierKey, of checkpoint: Checkpoint
  ) throws(NoteError) -> Bool {
    guard let cosignature = try Cosignature(line, by: key, of: checkpoint.text) else { return false }
    return cosignature.timestamp > 0
  }

  /// The witnesses whose valid cosignatures the checkpoint has.
  package func cosigners(of signed: SignedCheckpoint) throws(NoteError) -> [NoteVerifierKey] {
    var cosigners: [NoteVerifierKey] = []
    for key in keys {
      for line in signed.note.signatures
      where try isCosignature(line, by: key, of: signed.unverifiedCheckpoint) {
        cosigners.append(key)
        break
      }
    }
    return cosigners
  }

  /// The checkpoint without the witnesses' lines, as its log signed it.
  package func withoutCosignatures(_ signed: SignedCheckpoint) throws(LogFormatError) -> SignedCheckpoint {
    try Self.checkpoint(
      signed.unverifiedCheckpoint, signed.note.signatures.filter { key(namedBy: $0) == nil })
  }

  /// Adds the cosignatures of witnesses that the checkpoint does not have yet. Invalid lines that name a witness are
  /// removed, because a verifier with the policy would refuse the entire checkpoint. Throws ``LogFormatError`` if there
  /// are too many lines; ``NoteError/Code/internalFailure`` if a signature could not be checked.
  package func adding(
    _ further: [NoteSignature], to signed: SignedCheckpoint
  ) throws -> SignedCheckpoint {
    let cosigners = try cosigners(of: signed)
    let kept = try signed.note.signatures.filter { line in
      guard let key = key(namedBy: line) else { return true }
      return try isCosignature(line, by: key, of: signed.unverifiedCheckpoint)
    }
    let new = try further.filter { line in
      guard let key = key(namedBy: line), !cosigners.contains(key) else { return false }
      return try isCosignature(line, by: key, of: signed.unverifiedCheckpoint)
    }
    return try Self.checkpoint(signed.unverifiedCheckpoint, kept).adding(new)
  }

  package static func checkpoint(
    _ checkpoint: Checkpoint, _ lines: [NoteSignature]
  ) throws(LogFormatError) -> SignedCheckpoint {
    try SignedCheckpoint(parsing: checkpoint.text + [ASCII.newline] + lines.map(\.line).encodedLines)
  }
}
