// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// The error of a failed operation with a key, certificate or signature.
///
/// An invalid signature is not an error: verification then returns `false`.
public struct CryptoError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// The stable code of an error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The input is not a single X.509 certificate in DER, or the certificate contradicts itself.
    case malformedCertificate = "malformed-certificate"
    /// The input is not a key in a supported format, or the key's parts do not match.
    case malformedKey = "malformed-key"
    /// The input is not PEM (RFC 7468), or has no block of the required kind.
    case malformedPEM = "malformed-pem"
    /// The private key does not belong to the certificate.
    case keyMismatch = "key-mismatch"
    /// The passphrase does not decrypt the key.
    case wrongPassphrase = "wrong-passphrase"
    /// The key is encrypted and no passphrase was given.
    case passphraseRequired = "passphrase-required"
    /// The key is of a kind or size that is not supported.
    case unsupportedKey = "unsupported-key"
    /// The algorithm does not fit the key, or is not available.
    case unsupportedAlgorithm = "unsupported-algorithm"
    /// The certificate template cannot be encoded as X.509.
    case invalidTemplate = "invalid-template"
    /// OpenSSL failed to sign.
    case signingFailed = "signing-failed"
    /// OpenSSL failed unexpectedly, for example because it could not allocate memory.
    case internalFailure = "internal-failure"
  }

  /// The code of the error.
  public let code: Code
  /// The place of the error: a byte offset into the DER, such as `byte 12`; empty if there is no single place.
  public let place: String
  /// A description of the error and of what to do about it, in one or two sentences.
  public let message: String
  /// OpenSSL's errors, oldest first; empty if the error did not come from OpenSSL.
  package let openSSLErrors: [OpenSSLError]

  /// Creates an error.
  package init(
    _ code: Code, at place: String = "", _ message: String, openSSLErrors: [OpenSSLError] = []
  ) {
    self.code = code
    self.place = place
    self.message = message
    self.openSSLErrors = openSSLErrors
  }

  /// The message with its place and OpenSSL's last error.
  public var description: String {
    let located = place.isEmpty ? message : "\(message) (\(place))"
    guard let last = openSSLErrors.last else { return located }
    return "\(located) (OpenSSL: \(last))"
  }
}
