// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A verified statement of a witness about a checkpoint (C2SP tlog-cosignature, version 1).
///
/// It states that, at the given time, the checkpoint was the largest consistent one that the witness had seen of the
/// log. The signed message is the checkpoint's text after two lines:
///
///     cosignature/v1
///     time 1679315147
public struct Cosignature: Sendable, Hashable {
  /// The witness's key.
  public let key: NoteVerifierKey
  /// The time of the cosignature, in seconds since 1970 (POSIX time).
  public let timestamp: UInt64

  package static let maximumTimestamp = UInt64(Int64.max)

  static func message(timestamp: UInt64, text: [UInt8]) -> [UInt8] {
    Array("cosignature/v1\ntime \(timestamp)\n".utf8) + text
  }

  /// Verifies the signature line of a witness; `nil` if the line is not a valid cosignature by `key`.
  init?(_ signature: NoteSignature, by key: NoteVerifierKey, of text: [UInt8]) throws(NoteError) {
    // u64 timestamp, opaque ed25519_signature[64]
    guard key.kind == .cosignature, key.isNamed(by: signature),
      signature.signature.count == 8 + Ed25519PublicKey.signatureByteCount
    else { return nil }
    let timestamp = signature.signature.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard timestamp <= Self.maximumTimestamp,
      try key.isSignature(
        Array(signature.signature.dropFirst(8)), of: Self.message(timestamp: timestamp, text: text))
    else { return nil }
    self.key = key
    self.timestamp = timestamp
  }
}

extension Checkpoint {
  /// Cosigns the checkpoint as a witness. ``WitnessRules`` decides when a witness may do so. The key must sign nothing
  /// else. The timestamp is in seconds since 1970; ``LogFormatError/Code/malformedNumber`` is thrown if it is 0 (which
  /// would make no statement about other checkpoints) or beyond 2^63 - 1.
  package func cosigned(by key: NoteSignerKey, timestamp: UInt64) throws -> NoteSignature {
    guard 1...Cosignature.maximumTimestamp ~= timestamp else {
      throw LogFormatError(
        .malformedNumber, .none,
        "the time of a cosignature is 1 to 2^63 - 1 seconds after 1970; set the clock")
    }
    let signature = try key.rawSignature(for: Cosignature.message(timestamp: timestamp, text: text))
    return NoteSignature(key: key.cosignatureVerifierKey, signature: timestamp.bigEndianBytes + signature)
  }
}

extension SignedCheckpoint {
  /// Verifies and returns the cosignatures of known witnesses. Lines of unknown keys are ignored. So are cosignatures
  /// with the time 0, which do not state that the checkpoint was the largest one seen. If a key has several
  /// cosignatures, the newest one is returned. It throws ``NoteError/Code/invalidSignature`` if a line names a known
  /// key and is not its cosignature.
  package func cosignatures(by keys: [NoteVerifierKey]) throws(NoteError) -> [Cosignature] {
    var found: [Cosignature] = []
    for signature in note.signatures {
      for key in keys where key.kind == .cosignature && key.isNamed(by: signature) {
        guard let cosignature = try Cosignature(signature, by: key, of: note.text) else {
          throw NoteError(.invalidSignature, "the line of \(key.name) is not a cosignature by its key")
        }
        guard cosignature.timestamp > 0 else { continue }
        if let index = found.firstIndex(where: { $0.key == key }) {
          if found[index].timestamp < cosignature.timestamp { found[index] = cosignature }
        } else {
          found.append(cosignature)
        }
      }
    }
    return found
  }
}
