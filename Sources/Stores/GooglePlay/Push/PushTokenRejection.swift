// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Why the token of a push request is not accepted.
public struct PushTokenRejection: Error, Sendable, Hashable {
  /// Why, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request has no `Authorization: Bearer`.
    case missing
    /// The token is longer than any that is read.
    case tooLarge = "too-large"
    /// It is not a JWT.
    case malformed
    /// It is not signed with RS256, or demands an extension.
    case unsupportedAlgorithm = "unsupported-algorithm"
    /// Google has no key of its identifier.
    case unknownKey = "unknown-key"
    /// The signature is not valid.
    case badSignature = "bad-signature"
    /// The issuer is not Google.
    case wrongIssuer = "wrong-issuer"
    /// It was issued for another audience.
    case wrongAudience = "wrong-audience"
    /// It has expired.
    case expired
    /// It was issued in the future.
    case issuedInFuture = "issued-in-future"
    /// It is of another service account.
    case wrongEmail = "wrong-email"
    /// Google did not verify the address of the account.
    case emailNotVerified = "email-not-verified"
    /// It could not be checked: Google's keys were not reached.
    case keysUnavailable = "keys-unavailable"
  }

  /// Why.
  public let code: Code
  /// In words, in one line of bounded length. It quotes claims; do not send it back.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = ShownText.line(message)
  }

  /// Whether it could not be checked now, and may be later.
  public var isRetryable: Bool { code == .keysUnavailable }
}

extension PushTokenRejection: CustomStringConvertible {
  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}
