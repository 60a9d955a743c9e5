// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// A checkpoint with signature lines that are not verified yet.
///
/// ``verified(by:origin:)`` or ``WitnessPolicy/verify(_:logKey:)`` turns it into a ``VerifiedCheckpoint``.
public struct SignedCheckpoint: Sendable, Hashable {
  package let note: SignedNote
  /// The claimed checkpoint. Do not rely on it before it is verified.
  public let unverifiedCheckpoint: Checkpoint

  /// Reads a signed checkpoint.
  ///
  /// - Throws: ``LogFormatError``, with the line number.
  public init(parsing bytes: [UInt8]) throws(LogFormatError) { try self.init(parsing: bytes[...]) }

  init(parsing bytes: ArraySlice<UInt8>) throws(LogFormatError) {
    note = try SignedNote(parsing: bytes)
    unverifiedCheckpoint = try Checkpoint(parsing: note.text)
  }

  init(note: SignedNote, checkpoint: Checkpoint) {
    self.note = note
    unverifiedCheckpoint = checkpoint
  }

  /// The note as bytes.
  public var encoded: [UInt8] { note.encoded }

  /// Returns the checkpoint with additional signature lines, such as cosignatures.
  ///
  /// Lines that it already has are not added again.
  ///
  /// - Throws: ``LogFormatError/Code/tooMany`` if the result has more than 100 lines.
  public func adding(_ signatures: [NoteSignature]) throws(LogFormatError) -> SignedCheckpoint {
    SignedCheckpoint(note: try note.adding(signatures), checkpoint: unverifiedCheckpoint)
  }

  /// Verifies that the log with this key signed the checkpoint.
  ///
  /// - Parameters:
  ///   - key: The log's key, which is no cosigner's.
  ///   - origin: The log's origin, if it differs from the name of the key.
  /// - Returns: The verified checkpoint.
  /// - Throws: ``NoteError``: `notSigned`, `invalidSignature`, `wrongOrigin` or `internalFailure`.
  public func verified(
    by key: NoteVerifierKey, origin: String? = nil
  ) throws(NoteError) -> VerifiedCheckpoint {
    _ = try note.verified(by: [key])
    let origin = origin ?? key.name
    guard UTF8Text.isIdentical(unverifiedCheckpoint.origin, origin) else {
      throw NoteError(
        .wrongOrigin, "the checkpoint is of \(unverifiedCheckpoint.origin), the key of \(origin)")
    }
    return VerifiedCheckpoint(signed: self, logKey: key, cosignatures: [])
  }
}

/// A checkpoint that its log has signed. Only verification creates one.
public struct VerifiedCheckpoint: Sendable, Hashable {
  /// The checkpoint.
  public var checkpoint: Checkpoint { signed.unverifiedCheckpoint }
  /// The note that was verified.
  public let signed: SignedCheckpoint
  /// The key with which the log signed it.
  public let logKey: NoteVerifierKey
  /// The cosignatures of the policy's witnesses; empty if only the log's key was used for verification.
  public let cosignatures: [Cosignature]
}

extension Checkpoint {
  /// Signs the checkpoint as its log.
  ///
  /// A log must never sign two checkpoints that are not consistent with each other.
  ///
  /// - Throws: `CryptoError` if OpenSSL cannot sign.
  public func signed(by key: NoteSignerKey) throws(CryptoError) -> SignedCheckpoint {
    let text = text
    return SignedCheckpoint(
      note: SignedNote(text: text, signatures: [try key.sign(text)]), checkpoint: self)
  }
}
