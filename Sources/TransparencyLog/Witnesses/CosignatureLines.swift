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

  /// Whether a line is the cosignature of `key` on a checkpoint.
  package func isCosignature(_ line: NoteSignature, by key: NoteVerifierKey, of checkpoint: Checkpoint)
    -> Bool
  {
    guard let single = try? Self.checkpoint(checkpoint, [line]) else { return false }
    return (try? single.cosignatures(by: [key]))?.isEmpty == false
  }

  /// The witnesses that have cosigned.
  package func cosigners(of signed: SignedCheckpoint) -> [NoteVerifierKey] {
    keys.filter { key in
      signed.note.signatures.contains { isCosignature($0, by: key, of: signed.unverifiedCheckpoint) }
    }
  }

  /// The checkpoint without the lines of the witnesses: as its log signed it.
  package func withoutCosignatures(_ signed: SignedCheckpoint) throws(LogFormatError) -> SignedCheckpoint {
    try Self.checkpoint(
      signed.unverifiedCheckpoint, signed.note.signatures.filter { key(namedBy: $0) == nil })
  }

  /// The checkpoint with the cosignatures of witnesses that had not given one. Lines that only pretend to be of a
  /// witness are removed: a verifier that has the policy would refuse all of it.
  package func adding(
    _ further: [NoteSignature], to signed: SignedCheckpoint
  ) throws(LogFormatError) -> SignedCheckpoint {
    let cosigners = cosigners(of: signed)
    let kept = signed.note.signatures.filter { line in
      guard let key = key(namedBy: line) else { return true }
      return isCosignature(line, by: key, of: signed.unverifiedCheckpoint)
    }
    let new = further.filter { line in
      guard let key = key(namedBy: line), !cosigners.contains(key) else { return false }
      return isCosignature(line, by: key, of: signed.unverifiedCheckpoint)
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
