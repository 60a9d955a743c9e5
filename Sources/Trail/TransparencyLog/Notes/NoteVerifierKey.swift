// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// The key that verifies signatures of a name in notes: C2SP signed-note, "verifier keys".
///
///     example.com/log+530b169c+AekUoF6XhkM/ttOS2QVaMFGyvGjmlLwHnKyUVKD2iHFz
///
/// Name, plus, key ID in eight hexadecimal digits, plus, base64 of the type and the public key. The name and the
/// key ID choose the key; what they say is worth nothing until a signature is verified by it.
public struct NoteVerifierKey: Sendable {
  /// The purpose and the algorithm of the key.
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// Ed25519 over the text of the note.
    case ed25519 = 0x01
    /// Ed25519 over a checkpoint and a time: a witness's cosignature (C2SP tlog-cosignature).
    case cosignature = 0x04
  }

  /// The name: by convention a URL without a scheme. That of a log is its origin.
  public let name: String
  /// The first four bytes of SHA-256 over name, newline, type and public key.
  public let keyID: UInt32
  /// The purpose of the key.
  public let kind: Kind
  /// The public key.
  public let publicKey: Ed25519PublicKey

  /// Names a public key.
  ///
  /// - Throws: ``LogFormatError/Code/malformedName`` for a name that is empty or has white space, a plus or a
  ///   control character.
  public init(name: String, kind: Kind, publicKey: Ed25519PublicKey) throws(LogFormatError) {
    try NoteName.check(name, .none)
    self.init(checkedName: name, kind: kind, publicKey: publicKey)
  }

  init(checkedName name: String, kind: Kind, publicKey: Ed25519PublicKey) {
    self.name = name
    self.kind = kind
    self.publicKey = publicKey
    keyID = Self.keyID(name, kind, publicKey)
  }

  /// Reads a verifier key from text, without white space around it.
  ///
  /// - Throws: ``LogFormatError``: `malformedKey`, `malformedName`, `unsupportedKeyType`, `keyIDMismatch`.
  public init(_ text: String) throws(LogFormatError) {
    try self.init(Array(text.utf8)[...], .none)
  }

  init(_ text: ArraySlice<UInt8>, _ place: LogFormatError.Place) throws(LogFormatError) {
    // The base64 may have a plus too.
    let parts = text.split(separator: ASCII.plus, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = try? Base64.decode(parts[2]), let type = bytes.first else {
      throw LogFormatError(.malformedKey, place, "a verifier key is NAME+KEYID+BASE64")
    }
    let name = try NoteName.read(parts[0], place)
    guard let kind = Kind(rawValue: type) else {
      throw LogFormatError(
        .unsupportedKeyType, place, "a key of type \(type); supported are 1 (Ed25519) and 4 (cosignature)")
    }
    let publicKey: Ed25519PublicKey
    do throws(CryptoError) {
      publicKey = try Ed25519PublicKey(rawRepresentation: Array(bytes.dropFirst()))
    } catch {
      // A libcrypto without Ed25519 is not a fault of the key.
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

  /// Indicates whether a signature line names this key.
  func isNamed(by signature: NoteSignature) -> Bool {
    keyID == signature.keyID && UTF8Text.isIdentical(name, signature.name)
  }

  private static func keyID(_ name: String, _ kind: Kind, _ publicKey: Ed25519PublicKey) -> UInt32 {
    let message = Array(name.utf8) + [ASCII.newline, kind.rawValue] + publicKey.rawRepresentation
    return Digest.hash(message, using: .sha256).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func hexadecimal(_ keyID: UInt32) -> String { Hexadecimal.encode(keyID.bigEndianBytes) }
}

extension NoteVerifierKey: Hashable, CustomStringConvertible {
  /// Indicates whether name, type and public key are of the same bytes.
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
