// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto

/// An error of signing a receipt or token, or of creating, reading or writing an identity.
///
/// It states the problem, its place and the remedy.
public struct SigningError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable code for the kind of error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The chain has no certificates.
    case emptyChain = "empty-chain"
    /// A certificate of the chain was not issued by the next one; the order is leaf, intermediate, root.
    case brokenChain = "broken-chain"
    /// The chain does not have the number of certificates that this kind of receipt carries.
    case chainLength = "chain-length"
    /// The private key does not belong to the leaf certificate.
    case keyMismatch = "key-mismatch"
    /// This kind of receipt cannot be signed with this kind of key.
    case unsuitableKey = "unsuitable-key"
    /// The bytes are not a private key in a supported format.
    case malformedKey = "malformed-key"
    /// The bytes are not certificates in PEM or DER.
    case malformedCertificate = "malformed-certificate"
    /// The key is encrypted and no passphrase was given.
    case passphraseRequired = "passphrase-required"
    /// The passphrase does not decrypt the key.
    case wrongPassphrase = "wrong-passphrase"
    /// A file of that name exists, and overwriting was not requested.
    case fileExists = "file-exists"
    /// A file or directory could not be read.
    case unreadableFile = "unreadable-file"
    /// A file or directory could not be written.
    case unwritableFile = "unwritable-file"
    /// The authoring JSON is not valid JSON, or one of its values does not have the field's type.
    case malformedInput = "malformed-input"
    /// The authoring JSON lacks a field that the receipt needs.
    case missingField = "missing-field"
    /// The authoring JSON has a field with an unknown name.
    case unknownField = "unknown-field"
    /// An argument is out of bounds.
    case invalidValue = "invalid-value"
    /// The cryptographic library could not create a signature or another part.
    case cryptoFailure = "crypto-failure"
  }

  /// The kind of error.
  public let code: Code
  /// The place: a file path, or a JSON path such as `$.inApp[0].productId`; empty if the error has no place.
  public let place: String
  /// One or two sentences for people: the problem and the remedy.
  public let message: String

  /// Creates an error.
  package init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
  }

  /// Creates an error from one of the cryptographic library.
  package init(_ error: CryptoError, at place: String = "") {
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

  /// Creates an error from one of the codec about authoring JSON.
  package init(_ error: MalformedReceipt) {
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
