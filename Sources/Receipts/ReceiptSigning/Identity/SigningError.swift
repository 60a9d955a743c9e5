// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto

/// A receipt or token that could not be signed, or an identity that could not be made, read or written: what
/// is wrong, where, and what to do about it.
public struct SigningError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A chain without certificates.
    case emptyChain = "empty-chain"
    /// A certificate of the chain was not issued by the next one: the order is leaf, intermediate, root.
    case brokenChain = "broken-chain"
    /// The chain does not have the number of certificates that this kind of receipt carries.
    case chainLength = "chain-length"
    /// The private key does not belong to the leaf certificate.
    case keyMismatch = "key-mismatch"
    /// The key is not of the kind that this kind of receipt is signed with.
    case unsuitableKey = "unsuitable-key"
    /// The bytes are no private key in a format that is read here.
    case malformedKey = "malformed-key"
    /// The bytes are no certificates in PEM or DER.
    case malformedCertificate = "malformed-certificate"
    /// The key is encrypted and no passphrase was given.
    case passphraseRequired = "passphrase-required"
    /// The passphrase does not open the key.
    case wrongPassphrase = "wrong-passphrase"
    /// A file of that name is there already, and overwriting was not asked for.
    case fileExists = "file-exists"
    /// A file or directory could not be read.
    case unreadableFile = "unreadable-file"
    /// A file or directory could not be written.
    case unwritableFile = "unwritable-file"
    /// The authoring JSON is not JSON, or a value in it is not of its field's type.
    case malformedInput = "malformed-input"
    /// The authoring JSON lacks a field that the receipt needs.
    case missingField = "missing-field"
    /// The authoring JSON has a field of a name that is not known.
    case unknownField = "unknown-field"
    /// A value that was passed in is out of bounds.
    case invalidValue = "invalid-value"
    /// A JWS or another part could not be made by the cryptographic library.
    case cryptoFailure = "crypto-failure"
  }

  /// What is wrong.
  public let code: Code
  /// Where: a path of a file or a JSON path such as `$.inApp[0].productId`; empty if there is none.
  public let place: String
  /// One or two sentences for a person: what was found, and what to do.
  public let message: String

  /// Creates an error.
  public init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// The same fault as the cryptographic library reports it.
  public init(_ error: CryptoError, at place: String = "") {
    let code: Code =
      switch error.code {
      case .malformedCertificate: .malformedCertificate
      case .malformedKey, .malformedPEM: .malformedKey
      case .keyMismatch: .keyMismatch
      case .wrongPassphrase: .wrongPassphrase
      case .passphraseRequired: .passphraseRequired
      case .unsupportedKey, .unsupportedAlgorithm: .unsuitableKey
      default: .cryptoFailure
      }
    self.init(code, at: place, error.description)
  }

  /// The same fault as the codec reports it, in authoring JSON.
  public init(_ error: MalformedReceipt) {
    let code: Code = error.code == .missing ? .missingField : .malformedInput
    self.init(code, at: error.place == .whole ? "" : error.place.description, error.message)
  }

  /// The message with its place.
  public var description: String { place.isEmpty ? message : "\(message) (\(place))" }
}

extension PrivateKey {
  /// Signs a message.
  func sign(_ message: [UInt8], using algorithm: SignatureAlgorithm) throws(SigningError) -> [UInt8] {
    do throws(CryptoError) {
      return try signature(for: message, using: algorithm)
    } catch {
      throw SigningError(error)
    }
  }
}
