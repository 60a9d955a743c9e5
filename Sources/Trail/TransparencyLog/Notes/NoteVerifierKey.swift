// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

/// A key that verifies the signatures of a name in notes (C2SP signed-note, "verifier keys").
///
///     example.com/log+530b169c+AekUoF6XhkM/ttOS2QVaMFGyvGjmlLwHnKyUVKD2iHFz
///
/// The text is the name, a plus, the key ID in eight hexadecimal digits, a plus, and the base64 of the type and the
/// public key. The name and key ID in a signature line only select the key: they prove nothing until the signature is
/// verified.
public struct NoteVerifierKey: Sendable {
  /// The name, by convention a URL without a scheme. For a log, it is the origin.
  public let name: String
  /// The first four bytes of SHA-256 over name, newline, type and public key.
  package let keyID: UInt32
  package let kind: Kind
  package let publicKey: Ed25519PublicKey

  init(checkedName name: String, kind: Kind, publicKey: Ed25519PublicKey) {
    self.name = name
    self.kind = kind
    self.publicKey = publicKey
    let message = Array(name.utf8) + [ASCII.newline, kind.rawValue] + publicKey.rawRepresentation
    keyID = Digest.hash(message, using: .sha256).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Parses a verifier key from text, without surrounding white space.
  ///
  /// - Throws: ``LogFormatError``: `malformedKey`, `malformedName`, `unsupportedKeyType`, `keyIDMismatch`.
  public init(_ text: String) throws(LogFormatError) { try self.init(Array(text.utf8)[...], .none) }

  init(_ text: ArraySlice<UInt8>, _ place: LogFormatError.Place) throws(LogFormatError) {
    // The base64 may contain a plus too.
    let parts = text.split(separator: ASCII.plus, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = try? Base64.decode(parts[2]), let type = bytes.first else {
      throw LogFormatError(.malformedKey, place, "a verifier key is NAME+KEYID+BASE64")
    }
    let name = try Self.readName(parts[0], place)
    guard let kind = Kind(rawValue: type) else {
      throw LogFormatError(
        .unsupportedKeyType, place, "a key of type \(type); supported are 1 (Ed25519) and 4 (cosignature)")
    }
    let publicKey: Ed25519PublicKey
    do throws(CryptoError) {
      publicKey = try Ed25519PublicKey(rawRepresentation: Array(bytes.dropFirst()))
    } catch {
      // If this libcrypto does not support Ed25519, the key is not malformed.
      throw error.code == .unsupportedAlgorithm
        ? LogFormatError(.unsupportedKeyType, place, error.message)
        : LogFormatError(.malformedKey, place, "an Ed25519 public key is 32 bytes, not \(bytes.count - 1)")
    }
    self.init(checkedName: name, kind: kind, publicKey: publicKey)
    let expected = Self.hexadecimal(keyID)
    guard parts[1].elementsEqual(expected.utf8) else {
      throw LogFormatError(.keyIDMismatch, place, "the key ID of this name and key is \(expected)")
    }
  }

  /// The key as text: name, key ID and base64.
  public var text: String {
    "\(name)+\(Self.hexadecimal(keyID))+\(Base64.encodeToString([kind.rawValue] + publicKey.rawRepresentation))"
  }

  package func isNamed(by signature: NoteSignature) -> Bool {
    keyID == signature.keyID && UTF8Text.isIdentical(name, signature.name)
  }

  private static func hexadecimal(_ keyID: UInt32) -> String { Hexadecimal.encode(keyID.bigEndianBytes) }
}

extension NoteVerifierKey: Hashable, CustomStringConvertible {
  /// Returns `true` if the name, type and public key have the same bytes.
  public static func == (lhs: NoteVerifierKey, rhs: NoteVerifierKey) -> Bool {
    lhs.keyID == rhs.keyID && lhs.kind == rhs.kind && lhs.publicKey == rhs.publicKey
      && UTF8Text.isIdentical(lhs.name, rhs.name)
  }

  /// Hashes the type, the key ID and the public key.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(keyID)
    hasher.combine(publicKey)
  }

  /// The key as text.
  public var description: String { text }
}

extension NoteVerifierKey {
  /// Checks that a name is not empty and has no white space, plus or control character.
  static func checkName(_ name: String, _ place: LogFormatError.Place) throws(LogFormatError) {
    guard !name.isEmpty,
      name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0 != "+" && !$0.properties.isWhitespace })
    else {
      throw LogFormatError(
        .malformedName, place,
        "the name of a key is not empty and has no white space, plus or control character")
    }
  }

  static func readName(
    _ bytes: ArraySlice<UInt8>, _ place: LogFormatError.Place
  ) throws(LogFormatError) -> String {
    guard let name = String(validating: bytes, as: UTF8.self) else {
      throw LogFormatError(.notUTF8, place, "the name is not UTF-8")
    }
    try checkName(name, place)
    return name
  }
}
