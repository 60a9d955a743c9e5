// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import Testing
import TransparencyLog

@Suite struct NoteKeyTests {
  /// The key of the Go checksum database.
  static let text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

  @Test func `a verifier key is read and written`() throws {
    let key = try NoteVerifierKey(Self.text)
    #expect(key.name == "sum.golang.org")
    #expect(key.keyID == 0x033d_e0ae)
    #expect(key.kind == .ed25519)
    #expect(key.text == Self.text)
    let signer = try NoteSignerKey.generate(name: key.name)
    let cosigner = signer.cosignatureVerifierKey
    #expect(cosigner.keyID != signer.verifierKey.keyID)
    #expect(try NoteVerifierKey(cosigner.text) == cosigner)
    #expect(cosigner != signer.verifierKey)
  }

  @Test(arguments: [
    ("", LogFormatError.Code.malformedKey), ("name", .malformedKey), ("name+00000000", .malformedKey),
    ("name+00000000+", .malformedKey), ("name+00000000+A", .malformedKey),
    ("sum.golang.org+033DE0AE+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", .keyIDMismatch),
    ("sum.golang.org+33de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", .keyIDMismatch),
    ("sum.golang.com+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", .keyIDMismatch),
    ("+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", .malformedName),
    ("sum golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8", .malformedName),
    ("name+00000000+AgAA", .unsupportedKeyType), ("name+00000000+AQAA", .malformedKey),
    ("sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8\n", .malformedKey),
  ])
  func `faults of a verifier key are named`(text: String, code: LogFormatError.Code) {
    let error = #expect(throws: LogFormatError.self) { try NoteVerifierKey(text) }
    #expect(error?.code == code, "\(text)")
  }

  @Test func `no mutation of a verifier key is another`() throws {
    forEachMutation(of: Array(Self.text.utf8)) { position, mutated in
      guard let text = String(validating: mutated, as: UTF8.self) else { return }
      #expect(throws: LogFormatError.self, "byte \(position)") { try NoteVerifierKey(text) }
    }
  }

  @Test func `a signer key goes out and comes back, and is never printed`() throws {
    let key = try signer("example.com/log")
    let read = try NoteSignerKey(name: key.name, pem: key.pem())
    #expect(read.verifierKey == key.verifierKey)
    #expect(read.cosignatureVerifierKey == key.cosignatureVerifierKey)
    #expect(
      try NoteSignerKey.generate(name: "a").verifierKey != NoteSignerKey.generate(name: "a").verifierKey)
    for name in ["", "a b", "a+b", "a\nb", "a\u{2028}b"] {
      let error = #expect(throws: LogFormatError.self) { try NoteSignerKey.generate(name: name) }
      #expect(error?.code == .malformedName)
    }
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] {
      #expect(text.contains(key.verifierKey.text))
      #expect(!text.contains("1, 1, 1, 1"))
    }
  }
}
