// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// An Ed25519 key that signs notes under a name, and as a witness cosigns checkpoints. It is never printed.
///
/// The same key must not be both: a witness has a key of its own (C2SP tlog-cosignature).
public struct NoteSignerKey: Sendable {
  /// The name in its signature lines. That of a log is its origin.
  public let name: String

  private let privateKey: Ed25519PrivateKey

  /// Names a private key.
  ///
  /// - Throws: ``LogFormatError/Code/malformedName`` for a name that is empty or has white space, a plus or a
  ///   control character.
  public init(name: String, privateKey: Ed25519PrivateKey) throws(LogFormatError) {
    try NoteName.check(name, .none)
    self.name = name
    self.privateKey = privateKey
  }

  /// Makes a new key.
  ///
  /// - Throws: ``LogFormatError/Code/malformedName``, and `CryptoError` where OpenSSL cannot.
  public static func generate(name: String) throws -> NoteSignerKey {
    try NoteSignerKey(name: name, privateKey: .generate())
  }

  /// Reads a PKCS#8 private key in PEM, as `openssl genpkey -algorithm ed25519` writes it.
  ///
  /// - Parameters:
  ///   - name: The name; the PEM text does not hold it.
  ///   - pem: The text.
  ///   - passphrase: What opens an encrypted key.
  /// - Throws: ``LogFormatError/Code/malformedName``, and `CryptoError` where the text holds no such key.
  public init(name: String, pem: String, passphrase: [UInt8]? = nil) throws {
    try self.init(name: name, privateKey: Ed25519PrivateKey(pem: pem, passphrase: passphrase))
  }

  /// The private key as PKCS#8 in PEM. Write it to a file that others cannot read.
  ///
  /// - Throws: `CryptoError` where OpenSSL cannot encode or encrypt it.
  public func pem(passphrase: [UInt8]? = nil) throws(CryptoError) -> String {
    try privateKey.pkcs8PEM(passphrase: passphrase)
  }

  /// The key that verifies the notes that it signs.
  public var verifierKey: NoteVerifierKey { key(.ed25519) }

  /// The key that verifies its cosignatures.
  public var cosignatureVerifierKey: NoteVerifierKey { key(.cosignature) }

  private func key(_ kind: NoteVerifierKey.Kind) -> NoteVerifierKey {
    NoteVerifierKey(checkedName: name, kind: kind, publicKey: privateKey.publicKey)
  }

  /// The signature line for a text.
  func sign(_ text: [UInt8]) throws(CryptoError) -> NoteSignature {
    NoteSignature(key: verifierKey, signature: try privateKey.signature(for: text))
  }

  /// Signs what a cosignature covers.
  func rawSignature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
    try privateKey.signature(for: message)
  }
}

extension NoteSignerKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The verifier key, never the private one.
  public var description: String { "NoteSignerKey(\(verifierKey))" }
  /// The verifier key, never the private one.
  public var debugDescription: String { description }
  /// Shows the verifier key and nothing else.
  public var customMirror: Mirror { Mirror(self, children: ["verifierKey": verifierKey]) }
}
