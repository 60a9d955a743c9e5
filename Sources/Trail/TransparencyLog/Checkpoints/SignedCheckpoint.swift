// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// A checkpoint with signature lines, none of them verified.
///
/// ``verified(by:origin:)`` or ``WitnessPolicy/verify(_:logKey:)`` makes a ``VerifiedCheckpoint`` of it.
public struct SignedCheckpoint: Sendable, Hashable {
  /// The note that it is.
  public let note: SignedNote
  /// The checkpoint that it claims. Do not rely on it before it is verified.
  public let unverifiedCheckpoint: Checkpoint

  /// Reads a signed checkpoint.
  ///
  /// - Throws: ``LogFormatError``, with the line.
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

  /// The checkpoint with further signature lines, such as cosignatures. Lines that it has already are not added
  /// again.
  ///
  /// - Throws: ``LogFormatError/Code/tooMany`` where that makes more than ``SignedNote/maximumSignatureCount``.
  public func adding(_ signatures: [NoteSignature]) throws(LogFormatError) -> SignedCheckpoint {
    SignedCheckpoint(note: try note.adding(signatures), checkpoint: unverifiedCheckpoint)
  }

  /// Verifies that the log with this key signed it.
  ///
  /// - Parameters:
  ///   - key: The log's key, of ``NoteVerifierKey/Kind/ed25519``.
  ///   - origin: The log's origin, where the key has another name.
  /// - Returns: The checkpoint, verified.
  /// - Throws: ``NoteError``: `notSigned`, `invalidSignature`, `wrongOrigin`.
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

/// A checkpoint that its log has signed. Only verification makes one.
public struct VerifiedCheckpoint: Sendable, Hashable {
  /// The checkpoint.
  public var checkpoint: Checkpoint { signed.unverifiedCheckpoint }
  /// The note that was verified.
  public let signed: SignedCheckpoint
  /// The key that the log signed it with.
  public let logKey: NoteVerifierKey
  /// The cosignatures of the witnesses of the policy; none where it was verified by the log's key alone.
  public let cosignatures: [Cosignature]
}

extension Checkpoint {
  /// Signs the checkpoint as its log.
  ///
  /// A log must never sign two checkpoints that are not consistent with each other.
  ///
  /// - Throws: `CryptoError` where OpenSSL cannot sign.
  public func signed(by key: NoteSignerKey) throws(CryptoError) -> SignedCheckpoint {
    let text = text
    return SignedCheckpoint(
      note: SignedNote(text: text, signatures: [try key.sign(text)]), checkpoint: self)
  }
}
