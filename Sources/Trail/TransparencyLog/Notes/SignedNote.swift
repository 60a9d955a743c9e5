// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A text with signature lines (C2SP signed-note) that are not verified yet: do not act on the text.
///
///     Text of one or more lines,
///     the last one with its newline.
///
///     — example.com/signer Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
///
/// ``verified(by:)`` turns it into a ``VerifiedNote``.
package struct SignedNote: Sendable, Hashable {
  /// The longest note that can be read, in bytes.
  package static let maximumByteCount = 1_000_000
  package static let maximumSignatureCount = 100

  /// The signed text, with its final newline and without the empty line after it.
  package let text: [UInt8]
  /// The signature lines, in order; at least one.
  package let signatures: [NoteSignature]

  /// Parses a note. Throws ``LogFormatError``, with the line number if it is known: `tooLarge`, `notUTF8`,
  /// `controlCharacter`, `noSignatures`, `truncated`, `malformedSignatureLine`, `malformedName`, `tooMany`.
  package init(parsing bytes: [UInt8]) throws(LogFormatError) { try self.init(parsing: bytes[...]) }

  init(parsing bytes: ArraySlice<UInt8>) throws(LogFormatError) {
    let end = try Self.checkText(bytes)
    text = Array(bytes[...end])
    let textLines = text.count { $0 == ASCII.newline }
    var reader = LineReader(bytes[(end + 2)...], linesBefore: textLines + 1)
    signatures = try NoteSignature.lines(&reader)
    guard !signatures.isEmpty else {
      throw LogFormatError(.noSignatures, .line(textLines + 2), "no signature line after the empty line")
    }
  }

  /// Checks the rules for an entire note, and returns the index of the newline that ends its text. That newline is the
  /// one before the last empty line.
  private static func checkText(_ bytes: ArraySlice<UInt8>) throws(LogFormatError) -> Int {
    guard bytes.count <= maximumByteCount else {
      throw LogFormatError(.tooLarge, .byte(maximumByteCount), "more than \(maximumByteCount) bytes")
    }
    var line = 1
    var end: Int?
    var previous: UInt8 = 0
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte >= 0x20 || byte == ASCII.newline else {
        throw LogFormatError(.controlCharacter, .line(line), "a control character other than newline")
      }
      if byte == ASCII.newline {
        line += 1
        if previous == ASCII.newline { end = index - 1 }
      }
      previous = byte
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw LogFormatError(.notUTF8, .none, "the note is not UTF-8")
    }
    guard let end else {
      throw LogFormatError(.noSignatures, .line(line), "no empty line between the text and its signatures")
    }
    return end
  }

  init(text: [UInt8], signatures: [NoteSignature]) {
    self.text = text
    self.signatures = signatures
  }

  /// Signs a text. Throws ``LogFormatError`` if the text does not end in a newline, is not UTF-8 or has other control
  /// characters, or if there are no signers; `CryptoError` if OpenSSL cannot sign.
  package static func sign(_ text: [UInt8], by signers: [NoteSignerKey]) throws -> SignedNote {
    guard text.last == ASCII.newline else {
      throw LogFormatError(.truncated, .none, "the text of a note ends in a newline")
    }
    _ = try checkText(text[...] + [ASCII.newline])
    guard !signers.isEmpty else { throw LogFormatError(.noSignatures, .none, "a note has a signer") }
    return SignedNote(text: text, signatures: try signers.map { try $0.sign(text) })
  }

  /// The note as bytes. Encoding a parsed note returns the same bytes.
  package var encoded: [UInt8] { text + [ASCII.newline] + signatures.map(\.line).encodedLines }

  /// Returns the note with additional signature lines. Lines that it already has are not added again.
  ///
  /// - Throws: ``LogFormatError/Code/tooMany`` if the result has more than ``maximumSignatureCount`` lines.
  package func adding(_ further: [NoteSignature]) throws(LogFormatError) -> SignedNote {
    var all = signatures
    for signature in further where !all.contains(signature) { all.append(signature) }
    guard all.count <= Self.maximumSignatureCount else {
      throw LogFormatError(.tooMany, .none, "more than \(Self.maximumSignatureCount) signature lines")
    }
    return SignedNote(text: text, signatures: all)
  }
}

/// A text that at least one known key has signed. Only ``SignedNote/verified(by:)`` creates one.
package struct VerifiedNote: Sendable, Hashable {
  /// The text, with its final newline.
  package let text: [UInt8]
  /// The known keys that signed it, each once, in the order of the signature lines.
  package let signers: [NoteVerifierKey]
}

extension SignedNote {
  /// Verifies the signatures of known keys. Lines of unknown keys are ignored. Keys of other kinds than
  /// ``NoteVerifierKey/Kind/ed25519`` do not sign notes and are ignored. It throws ``NoteError/Code/invalidSignature``
  /// if a line names a known key and is not its signature, and ``NoteError/Code/notSigned`` if no line names a known
  /// key.
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
  func isSignature(_ signature: [UInt8], of message: [UInt8]) throws(NoteError) -> Bool {
    do throws(CryptoError) { return try publicKey.isValidSignature(signature, for: message) } catch {
      throw NoteError(.internalFailure, "a signature of \(name) could not be checked: \(error.message)")
    }
  }
}

extension Error {
  /// Indicates whether OpenSSL could not check a signature of a note, checkpoint, cosignature or proof. Such an error
  /// says nothing about the signature, and must not be treated as a failed verification.
  package var isFailureToCheckNote: Bool {
    if case .checkpoint(let error)? = self as? LogProofError { return error.code == .internalFailure }
    return (self as? NoteError)?.code == .internalFailure
  }
}

extension NoteSignature {
  init(key: NoteVerifierKey, signature: [UInt8]) {
    self.init(name: key.name, keyID: key.keyID, signature: signature)
  }

  /// Parses a signature line, without its newline. Throws ``LogFormatError``: `malformedSignatureLine`,
  /// `malformedName`, `notUTF8`.
  package init(line: String) throws(LogFormatError) { try self.init(line: Array(line.utf8)[...], .none) }

  init(line: ArraySlice<UInt8>, _ place: LogFormatError.Place) throws(LogFormatError) {
    guard let rest = ASCII.rest(of: line, after: Self.prefix), let space = rest.firstIndex(of: ASCII.space),
      let bytes = try? Base64.decode(rest[(space + 1)...]), bytes.count > 4
    else {
      throw LogFormatError(
        .malformedSignatureLine, place, "a signature line is: em dash, space, name, space, base64")
    }
    name = try NoteVerifierKey.readName(rest[..<space], place)
    keyID = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    signature = Array(bytes.dropFirst(4))
  }

  /// The line, without its newline.
  package var line: String {
    "\(Self.prefix)\(name) \(Base64.encodeToString(keyID.bigEndianBytes + signature))"
  }

  private static let prefix = "\u{2014} "

  /// Returns `true` if all bytes are the same.
  public static func == (lhs: NoteSignature, rhs: NoteSignature) -> Bool {
    lhs.keyID == rhs.keyID && lhs.signature == rhs.signature && UTF8Text.isIdentical(lhs.name, rhs.name)
  }

  /// Hashes the key ID and the signature.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(keyID)
    hasher.combine(signature)
  }

  static func lines(_ reader: inout LineReader) throws(LogFormatError) -> [NoteSignature] {
    var signatures: [NoteSignature] = []
    while let line = try reader.next() {
      let signature = try NoteSignature(line: line, reader.place)
      guard signatures.count < SignedNote.maximumSignatureCount else {
        throw LogFormatError(
          .tooMany, reader.place, "more than \(SignedNote.maximumSignatureCount) signature lines")
      }
      signatures.append(signature)
    }
    return signatures
  }
}
