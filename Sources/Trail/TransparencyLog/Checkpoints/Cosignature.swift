// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A witness's verified statement that as of a time a checkpoint was the largest consistent one that it had seen of
/// the log (C2SP tlog-cosignature, version 1).
///
/// What is signed is the text of the checkpoint after two lines:
///
///     cosignature/v1
///     time 1679315147
public struct Cosignature: Sendable, Hashable {
  /// The witness's key.
  public let key: NoteVerifierKey
  /// When it was made, in seconds since 1970 (POSIX time).
  public let timestamp: UInt64

  /// The latest time that a cosignature can state: 2^63 - 1.
  public static let maximumTimestamp = UInt64(Int64.max)

  static func message(timestamp: UInt64, text: [UInt8]) -> [UInt8] {
    Array("cosignature/v1\ntime \(timestamp)\n".utf8) + text
  }

  /// Verifies the signature line of a witness; `nil` if it is not that key's.
  ///
  /// - Throws: ``NoteError/Code/internalFailure`` where that could not be checked.
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
  /// Cosigns the checkpoint as a witness. The rules of when a witness may are in ``WitnessRules``.
  ///
  /// - Parameters:
  ///   - key: The witness's key, which signs nothing else.
  ///   - timestamp: The time, in seconds since 1970.
  /// - Returns: The signature line.
  /// - Throws: ``LogFormatError/Code/malformedNumber`` for a time of 0, which would state that nothing is known of other
  ///   checkpoints, or beyond 2^63 - 1; `CryptoError` where OpenSSL cannot sign.
  public func cosigned(by key: NoteSignerKey, timestamp: UInt64) throws -> NoteSignature {
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
  /// The cosignatures of known witnesses; lines of unknown keys are ignored, and so are those of the time 0, which do not
  /// say that the checkpoint was the largest one seen. Of several by one key the newest.
  ///
  /// - Parameter keys: The witnesses' keys, of ``NoteVerifierKey/Kind/cosignature``.
  /// - Returns: One cosignature of each witness that gave one.
  /// - Throws: ``NoteError/Code/invalidSignature`` where a line names a known key and is not its cosignature,
  ///   ``NoteError/Code/internalFailure`` where that could not be checked.
  public func cosignatures(by keys: [NoteVerifierKey]) throws(NoteError) -> [Cosignature] {
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
