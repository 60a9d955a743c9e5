// SPDX-License-Identifier: Apache-2.0

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
  /// The maximum number of signature lines.
  package static let maximumSignatureCount = 100

  /// The signed text, with its final newline and without the empty line after it.
  package let text: [UInt8]
  /// The signature lines, in order; at least one.
  package let signatures: [NoteSignature]

  /// Parses a note.
  ///
  /// - Throws: ``LogFormatError``, with the line number if it is known: `tooLarge`, `notUTF8`, `controlCharacter`,
  ///   `noSignatures`, `truncated`, `malformedSignatureLine`, `malformedName`, `tooMany`.
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

  /// Checks the rules for an entire note, and returns the index of the newline that ends its text.
  ///
  /// That newline is the one before the last empty line.
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

  /// Signs a text.
  ///
  /// - Throws: ``LogFormatError`` if the text does not end in a newline, is not UTF-8 or has other control
  ///   characters, or if there are no signers; `CryptoError` if OpenSSL cannot sign.
  package static func sign(_ text: [UInt8], by signers: [NoteSignerKey]) throws -> SignedNote {
    guard text.last == ASCII.newline else {
      throw LogFormatError(.truncated, .none, "the text of a note ends in a newline")
    }
    _ = try checkText(text[...] + [ASCII.newline])
    guard !signers.isEmpty else { throw LogFormatError(.noSignatures, .none, "a note has a signer") }
    return SignedNote(text: text, signatures: try signers.map { try $0.sign(text) })
  }

  /// The note as bytes. Encoding a parsed note returns the same bytes.
  package var encoded: [UInt8] {
    signatures.reduce(into: text + [ASCII.newline]) { $0 += Array($1.line.utf8) + [ASCII.newline] }
  }

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
