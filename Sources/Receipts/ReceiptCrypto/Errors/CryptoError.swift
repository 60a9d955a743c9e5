// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// A key, certificate or signing operation that failed: what went wrong and what to do about it.
///
/// An invalid signature is not an error: verification returns `false`.
public struct CryptoError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Not one X.509 certificate in DER, or one that contradicts itself.
    case malformedCertificate = "malformed-certificate"
    /// Not a key in a format that is read here, or its parts do not belong together.
    case malformedKey = "malformed-key"
    /// Not PEM (RFC 7468), or no block of the kind that is needed.
    case malformedPEM = "malformed-pem"
    /// The private key does not belong to the certificate.
    case keyMismatch = "key-mismatch"
    /// The passphrase does not open the encrypted key.
    case wrongPassphrase = "wrong-passphrase"
    /// The key is encrypted and no passphrase was given.
    case passphraseRequired = "passphrase-required"
    /// A key of a kind or size that cannot be used here.
    case unsupportedKey = "unsupported-key"
    /// An algorithm that does not go with the key, or is not offered here.
    case unsupportedAlgorithm = "unsupported-algorithm"
    /// A certificate template that cannot be encoded as X.509.
    case invalidTemplate = "invalid-template"
    /// OpenSSL refused to sign.
    case signingFailed = "signing-failed"
    /// OpenSSL failed where it should not, for instance for want of memory.
    case internalFailure = "internal-failure"
  }

  /// The kind of fault.
  public let code: Code
  /// The place: a byte offset into the DER, such as `byte 12`; empty if the fault has no single place.
  public let place: String
  /// One or two sentences for a person: what was found, and what to do.
  public let message: String
  /// The errors of OpenSSL, oldest first; empty if the fault was found without it.
  public let openSSLErrors: [OpenSSLError]

  /// Creates an error.
  public init(
    _ code: Code, at place: String = "", _ message: String, openSSLErrors: [OpenSSLError] = []
  ) {
    self.code = code
    self.place = place
    self.message = message
    self.openSSLErrors = openSSLErrors
  }

  /// The message, with its place and the last thing OpenSSL had to say.
  public var description: String {
    let located = place.isEmpty ? message : "\(message) (\(place))"
    guard let last = openSSLErrors.last else { return located }
    return "\(located) (OpenSSL: \(last))"
  }
}
