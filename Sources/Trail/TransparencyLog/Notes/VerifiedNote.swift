// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// A text that at least one known key has signed. Only ``SignedNote/verified(by:)`` creates one.
package struct VerifiedNote: Sendable, Hashable {
  /// The text, with its final newline.
  package let text: [UInt8]
  /// The known keys that signed it, each once, in the order of the signature lines.
  package let signers: [NoteVerifierKey]
}

extension SignedNote {
  /// Verifies the signatures of known keys. Lines of unknown keys are ignored.
  ///
  /// - Parameter keys: The trusted keys, of ``NoteVerifierKey/Kind/ed25519``. Keys of other kinds do not sign notes
  ///   and are ignored.
  /// - Returns: The verified note.
  /// - Throws: ``NoteError/Code/invalidSignature`` if a line names a known key and is not its signature,
  ///   ``NoteError/Code/notSigned`` if no line names a known key, ``NoteError/Code/internalFailure`` if a signature
  ///   could not be checked.
  package func verified(by keys: [NoteVerifierKey]) throws(NoteError) -> VerifiedNote {
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
  /// Returns `true` if `signature` is the key's signature of `message`.
  ///
  /// - Throws: ``NoteError/Code/internalFailure`` if the signature could not be checked.
  func isSignature(_ signature: [UInt8], of message: [UInt8]) throws(NoteError) -> Bool {
    do throws(CryptoError) { return try publicKey.isValidSignature(signature, for: message) } catch {
      throw NoteError(.internalFailure, "a signature of \(name) could not be checked: \(error.message)")
    }
  }
}

extension Error {
  /// Indicates whether OpenSSL could not check a signature of a note, checkpoint, cosignature or proof.
  ///
  /// Such an error says nothing about the signature, and must not be treated as a failed verification.
  package var isFailureToCheckNote: Bool {
    if case .checkpoint(let error)? = self as? LogProofError { return error.code == .internalFailure }
    return (self as? NoteError)?.code == .internalFailure
  }
}
