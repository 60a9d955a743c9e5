// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The reason why the token of a push request is not accepted.
public struct PushTokenRejection: Error, Sendable, Hashable {
  /// A stable code for the reason.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request has no `Authorization: Bearer`.
    case missing
    /// The token exceeds the largest size that is read.
    case tooLarge = "too-large"
    /// The token is not a valid JWT.
    case malformed
    /// The token is not signed with RS256, or requires an extension.
    case unsupportedAlgorithm = "unsupported-algorithm"
    /// Google has no key with the token's key identifier.
    case unknownKey = "unknown-key"
    /// The signature is not valid.
    case badSignature = "bad-signature"
    /// The issuer is not Google.
    case wrongIssuer = "wrong-issuer"
    /// The token was issued for another audience.
    case wrongAudience = "wrong-audience"
    /// The token has expired.
    case expired
    /// The token was issued in the future.
    case issuedInFuture = "issued-in-future"
    /// The token belongs to another service account.
    case wrongEmail = "wrong-email"
    /// Google did not verify the address of the account.
    case emailNotVerified = "email-not-verified"
    /// The token could not be checked: Google's keys could not be obtained, or the cryptographic library failed.
    case keysUnavailable = "keys-unavailable"
  }

  /// The code of the reason.
  public let code: Code
  /// A sentence in one line of bounded length; it quotes claims, so do not send it back.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = ShownText.line(message)
  }

  /// `true` if the token could not be checked now and may be later.
  public var isRetryable: Bool { code == .keysUnavailable }
}

extension PushTokenRejection: CustomStringConvertible {
  /// The code and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}
