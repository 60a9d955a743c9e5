// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A text that at least one known key has signed. Only ``SignedNote/verified(by:)`` makes one.
public struct VerifiedNote: Sendable, Hashable {
  /// The text, with its final newline.
  public let text: [UInt8]
  /// The known keys that signed it, each once, in the order of the signature lines.
  public let signers: [NoteVerifierKey]
}

extension SignedNote {
  /// Verifies the signatures of known keys; lines of unknown keys are ignored.
  ///
  /// - Parameter keys: The keys that are trusted, of ``NoteVerifierKey/Kind/ed25519``. Others sign no notes, and
  ///   are ignored.
  /// - Returns: The note, verified.
  /// - Throws: ``NoteError/Code/invalidSignature`` where a line names a known key and is not its signature,
  ///   ``NoteError/Code/notSigned`` where no line names a known key, ``NoteError/Code/internalFailure`` where a
  ///   signature could not be checked.
  public func verified(by keys: [NoteVerifierKey]) throws(NoteError) -> VerifiedNote {
    var signers: [NoteVerifierKey] = []
    for signature in signatures {
      for key in keys where key.kind == .ed25519 && key.isNamed(by: signature) {
        guard try key.isSignature(signature.signature, of: text) else {
          throw NoteError(
            .invalidSignature, "the signature line of \(key.name) is not a signature by its key")
        }
        if !signers.contains(key) { signers.append(key) }
      }
    }
    guard !signers.isEmpty else {
      let wanted = keys.filter { $0.kind == .ed25519 }.map(\.name).joined(separator: ", ")
      throw NoteError(.notSigned, "no signature by a known key; wanted one by: \(wanted)")
    }
    return VerifiedNote(text: text, signers: signers)
  }
}

extension NoteVerifierKey {
  /// Indicates whether `signature` is the key's signature of `message`.
  ///
  /// - Throws: ``NoteError/Code/internalFailure`` where that could not be checked.
  func isSignature(_ signature: [UInt8], of message: [UInt8]) throws(NoteError) -> Bool {
    do throws(CryptoError) { return try publicKey.isValidSignature(signature, for: message) } catch {
      throw NoteError(.internalFailure, "a signature of \(name) could not be checked: \(error.message)")
    }
  }
}

/// A note, checkpoint or cosignature that is in order but not to be trusted.
public struct NoteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Why it is not trusted, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// No signature line is of a known key.
    case notSigned = "not-signed"
    /// A signature line names a known key and is not its signature.
    case invalidSignature = "invalid-signature"
    /// The checkpoint is of another log than its key.
    case wrongOrigin = "wrong-origin"
    /// The cosignatures do not make the quorum of the policy.
    case quorumNotMet = "quorum-not-met"
    /// OpenSSL could not check a signature, for instance for want of memory: nothing follows for the note.
    case internalFailure = "internal-failure"
  }

  /// Why it is not trusted.
  public let code: Code
  /// The same, with names.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}

extension Error {
  /// Indicates whether OpenSSL could not check a signature of a note, checkpoint, cosignature or proof: the error says
  /// nothing of what was to be checked, and must not be taken for its refusal.
  package var isFailureToCheckNote: Bool {
    if case .checkpoint(let error)? = self as? LogProofError { return error.code == .internalFailure }
    return (self as? NoteError)?.code == .internalFailure
  }
}
