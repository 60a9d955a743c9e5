// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct SignedNoteTests {
  /// The example of Go's package golang.org/x/mod/sumdb/note.
  static let goKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
  static let goText = """
    If you think cryptography is the answer to your problem,
    then you don't know what your problem is.

    """
  static let goNote = """
    \(goText)
    — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=

    """

  @Test func `a note of Go's package is verified, and made again`() throws {
    let key = try NoteVerifierKey(Self.goKey)
    let note = try SignedNote(parsing: Array(Self.goNote.utf8))
    #expect(note.encoded == Array(Self.goNote.utf8))
    let verified = try note.verified(by: [key])
    #expect(verified.text == Array(Self.goText.utf8))
    #expect(verified.signers == [key])
    #expect(key.text == Self.goKey)
  }

  @Test func `what is signed is verified`() throws {
    let a = try signer("example.com/a", 1)
    let b = try signer("example.com/b", 2)
    for text in [
      "text\n", "\n", "text\n\n", "\n\n\n", "two\n\nparagraphs\n", "— not a signature\n", "\u{1F9FE}\n",
    ] {
      let note = try SignedNote.sign(Array(text.utf8), by: [a, b])
      #expect(try SignedNote(parsing: note.encoded) == note)
      #expect(
        try note.verified(by: [b.verifierKey, a.verifierKey]).signers == [a.verifierKey, b.verifierKey])
      #expect(try note.verified(by: [b.verifierKey]).text == Array(text.utf8))
    }
  }

  @Test func `only a known key's own signature counts`() throws {
    let a = try signer("example.com/a", 1)
    let note = try SignedNote.sign(Array("text\n".utf8), by: [a])
    func code(_ keys: [NoteVerifierKey], _ note: SignedNote) -> NoteError.Code? {
      do throws(NoteError) { _ = try note.verified(by: keys) } catch { return error.code }
      return nil
    }
    #expect(code([], note) == .notSigned)
    #expect(code([try signer("example.com/a", 2).verifierKey], note) == .notSigned)
    #expect(code([try signer("example.com/b", 1).verifierKey], note) == .notSigned)
    // The cosigning key of the same name signs no notes.
    #expect(code([a.cosignatureVerifierKey], note) == .notSigned)
    // One line that is wrong spoils the note, even after one that is right.
    let other = try SignedNote.sign(Array("other\n".utf8), by: [a])
    #expect(code([a.verifierKey], try note.adding(other.signatures)) == .invalidSignature)
    // Of an unknown key it is not looked at.
    let stranger = try SignedNote.sign(Array("other\n".utf8), by: [try signer("example.com/c", 3)])
    #expect(code([a.verifierKey], try note.adding(stranger.signatures)) == nil)
    // The same line twice is one signature.
    #expect(try note.adding(note.signatures) == note)
  }

  @Test func `names that look alike are different`() throws {
    let composed = try signer("example.com/\u{E9}")
    let decomposed = try signer("example.com/e\u{301}")
    #expect(composed.name == decomposed.name)
    #expect(composed.verifierKey != decomposed.verifierKey)
    let note = try SignedNote.sign(Array("text\n".utf8), by: [composed])
    #expect(throws: NoteError.self) { try note.verified(by: [decomposed.verifierKey]) }
  }

  @Test func `faults are named with their line`() {
    let line = "— a AAAAAAE=\n"
    func fails(_ code: LogFormatError.Code, _ place: LogFormatError.Place, _ text: String) -> Bool {
      expectFormatError(code, place, text) { _ = try SignedNote(parsing: $0) }
    }
    #expect(fails(.noSignatures, .line(1), ""))
    #expect(fails(.noSignatures, .line(2), "text\n"))
    #expect(fails(.noSignatures, .line(3), "text\n" + line))
    #expect(fails(.noSignatures, .line(3), "text\n\n"))
    #expect(fails(.truncated, .line(3), "text\n\n" + line.dropLast()))
    #expect(fails(.malformedSignatureLine, .line(4), "text\n\n" + line + "junk\n"))
    #expect(fails(.malformedSignatureLine, .line(3), "text\n\n- a AAAAAAE=\n"))
    #expect(fails(.malformedSignatureLine, .line(3), "text\n\n— a AAAAAA==\n"))
    #expect(fails(.malformedSignatureLine, .line(3), "text\n\n— a AAAAAAF=\n"))
    #expect(fails(.malformedSignatureLine, .line(3), "text\n\n— a  AAAAAAE=\n"))
    #expect(fails(.malformedSignatureLine, .line(3), "text\n\n— a AAAAAAE= \n"))
    #expect(fails(.malformedSignatureLine, .line(3), "text\n\n— a\n"))
    #expect(fails(.malformedName, .line(3), "text\n\n—  AAAAAAE=\n"))
    #expect(fails(.malformedName, .line(3), "text\n\n— a+b AAAAAAE=\n"))
    #expect(fails(.malformedName, .line(3), "text\n\n— a\u{3000}b AAAAAAE=\n"))
    #expect(fails(.controlCharacter, .line(2), "text\nte\txt\n\n" + line))
    #expect(fails(.controlCharacter, .line(1), "text\r\n\n" + line))
    #expect(fails(.tooMany, .line(103), "text\n\n" + String(repeating: line, count: 101)))
    #expect(throws: Never.self) {
      try SignedNote(parsing: Array(("text\n\n" + String(repeating: line, count: 100)).utf8))
    }
    #expect(throws: LogFormatError.self) { try SignedNote(parsing: [0xFF, 0x0A, 0x0A] + Array(line.utf8)) }
    let long = [UInt8](repeating: UInt8(ascii: "a"), count: SignedNote.maximumByteCount + 1)
    #expect(throws: LogFormatError.self) { try SignedNote(parsing: long) }
  }

  @Test func `a text that cannot be read again is not signed`() throws {
    let key = try signer("example.com/a")
    for text in ["", "no newline", "te\rxt\n"] {
      #expect(throws: LogFormatError.self, "\(text)") { try SignedNote.sign(Array(text.utf8), by: [key]) }
    }
    #expect(throws: LogFormatError.self) { try SignedNote.sign([0xFF, 0x0A], by: [key]) }
    #expect(throws: LogFormatError.self) { try SignedNote.sign(Array("text\n".utf8), by: []) }
  }

  @Test func `no mutation of a note is accepted`() throws {
    let key = try signer("example.com/a")
    let note = try SignedNote.sign(Array("a text\nof two lines\n".utf8), by: [key])
    forEachMutation(of: note.encoded) { position, mutated in
      guard let parsed = try? SignedNote(parsing: mutated) else { return }
      #expect(parsed.encoded == mutated)
      #expect(throws: NoteError.self, "byte \(position)") { try parsed.verified(by: [key.verifierKey]) }
    }
  }

  @Test func `the line of an unknown key may change, and nothing else`() throws {
    let key = try signer("example.com/a", 1)
    let stranger = try signer("example.com/b", 2)
    let text = Array("text\n".utf8)
    let note = try SignedNote.sign(text, by: [key, stranger])
    let end = try SignedNote.sign(text, by: [key]).encoded.count
    forEachMutation(of: note.encoded) { position, mutated in
      guard let parsed = try? SignedNote(parsing: mutated),
        let verified = try? parsed.verified(by: [key.verifierKey])
      else { return }
      #expect(position >= end)
      #expect(verified.text == text)
      #expect(verified.signers == [key.verifierKey])
    }
  }
}
