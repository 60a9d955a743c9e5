// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// An Ed25519 private key that signs notes under a name, or cosigns checkpoints as a witness.
///
/// Its description does not reveal the private key. Do not use one key for both purposes: a witness needs a key of
/// its own (C2SP tlog-cosignature).
public struct NoteSignerKey: Sendable {
  /// The name in its signature lines. For a log, it is the origin.
  public let name: String

  private let privateKey: Ed25519PrivateKey

  /// Creates a signer key from a private key. Throws ``LogFormatError/Code/malformedName`` if the name is empty or has
  /// white space, a plus or a control character.
  package init(name: String, privateKey: Ed25519PrivateKey) throws(LogFormatError) {
    try NoteVerifierKey.checkName(name, .none)
    self.name = name
    self.privateKey = privateKey
  }

  /// Generates a new key.
  ///
  /// - Throws: ``LogFormatError/Code/malformedName``, and `CryptoError` if OpenSSL cannot generate a key.
  public static func generate(name: String) throws -> NoteSignerKey {
    try NoteSignerKey(name: name, privateKey: .generate())
  }

  /// Reads a PKCS#8 private key in PEM, the format that `openssl genpkey -algorithm ed25519` writes.
  ///
  /// - Parameters:
  ///   - name: The name, which the PEM text does not contain.
  ///   - pem: The PEM text.
  ///   - passphrase: The passphrase of an encrypted key.
  /// - Throws: ``LogFormatError/Code/malformedName``, and `CryptoError` if the text does not contain such a key.
  public init(name: String, pem: String, passphrase: [UInt8]? = nil) throws {
    try self.init(name: name, privateKey: Ed25519PrivateKey(pem: pem, passphrase: passphrase))
  }

  /// The private key as PKCS#8 in PEM. Write it to a file that others cannot read.
  ///
  /// - Throws: `CryptoError` if OpenSSL cannot encode or encrypt it.
  public func pem(passphrase: [UInt8]? = nil) throws(CryptoError) -> String {
    try privateKey.pkcs8PEM(passphrase: passphrase)
  }

  /// The key that verifies the notes that this key signs.
  public var verifierKey: NoteVerifierKey { key(.ed25519) }

  /// The key that verifies the cosignatures that this key makes.
  public var cosignatureVerifierKey: NoteVerifierKey { key(.cosignature) }

  private func key(_ kind: NoteVerifierKey.Kind) -> NoteVerifierKey {
    NoteVerifierKey(checkedName: name, kind: kind, publicKey: privateKey.publicKey)
  }

  func sign(_ text: [UInt8]) throws(CryptoError) -> NoteSignature {
    NoteSignature(key: verifierKey, signature: try rawSignature(for: text))
  }

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
