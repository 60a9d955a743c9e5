// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A signature line of a note: `— NAME BASE64`. The base64 holds the key ID and the signature.
///
/// The line is not verified.
public struct NoteSignature: Sendable, Hashable {
  /// The name of the key.
  package let name: String
  /// The ID of the key.
  package let keyID: UInt32
  /// The signature; its format depends on the type of the key.
  package let signature: [UInt8]

  init(key: NoteVerifierKey, signature: [UInt8]) {
    name = key.name
    keyID = key.keyID
    self.signature = signature
  }

  /// Parses a signature line, without its newline.
  ///
  /// - Throws: ``LogFormatError``: `malformedSignatureLine`, `malformedName`, `notUTF8`.
  package init(line: String) throws(LogFormatError) {
    try self.init(line: Array(line.utf8)[...], .none)
  }

  init(line: ArraySlice<UInt8>, _ place: LogFormatError.Place) throws(LogFormatError) {
    guard let rest = ASCII.rest(of: line, after: Self.prefix), let space = rest.firstIndex(of: ASCII.space),
      let bytes = try? Base64.decode(rest[(space + 1)...]), bytes.count > 4
    else {
      throw LogFormatError(
        .malformedSignatureLine, place, "a signature line is: em dash, space, name, space, base64")
    }
    name = try NoteName.read(rest[..<space], place)
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

  /// Parses signature lines up to the end of the text.
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
