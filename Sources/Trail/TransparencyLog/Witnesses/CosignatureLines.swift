// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The signature lines of checkpoints, told apart by whose they are.
package struct CosignatureLines: Sendable {
  /// The keys of the witnesses.
  let keys: [NoteVerifierKey]

  package init(keys: [NoteVerifierKey]) { self.keys = keys }

  /// The witness that a line names; what it says need not be true.
  package func key(namedBy line: NoteSignature) -> NoteVerifierKey? {
    keys.first { $0.keyID == line.keyID && UTF8Text.isIdentical($0.name, line.name) }
  }

  /// Indicates whether a line is the cosignature of `key` on a checkpoint.
  ///
  /// - Throws: ``NoteError/Code/internalFailure`` if that could not be checked.
  package func isCosignature(
    _ line: NoteSignature, by key: NoteVerifierKey, of checkpoint: Checkpoint
  ) throws(NoteError) -> Bool {
    guard let cosignature = try Cosignature(line, by: key, of: checkpoint.text) else { return false }
    return cosignature.timestamp > 0
  }

  /// The witnesses that have cosigned.
  ///
  /// - Throws: ``NoteError/Code/internalFailure`` if that could not be checked.
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

  /// The checkpoint without the lines of the witnesses: as its log signed it.
  package func withoutCosignatures(_ signed: SignedCheckpoint) throws(LogFormatError) -> SignedCheckpoint {
    try Self.checkpoint(
      signed.unverifiedCheckpoint, signed.note.signatures.filter { key(namedBy: $0) == nil })
  }

  /// The checkpoint with the cosignatures of witnesses that had not given one. Lines that only pretend to be of a
  /// witness are removed: a verifier that has the policy would refuse all of it.
  ///
  /// - Throws: ``LogFormatError`` if there are too many; ``NoteError/Code/internalFailure`` if one could not be checked.
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

  /// The checkpoint with exactly these lines.
  package static func checkpoint(
    _ checkpoint: Checkpoint, _ lines: [NoteSignature]
  ) throws(LogFormatError) -> SignedCheckpoint {
    let newline = UInt8(ascii: "\n")
    return try SignedCheckpoint(
      parsing: lines.reduce(into: checkpoint.text + [newline]) { $0 += Array($1.line.utf8) + [newline] })
  }
}
