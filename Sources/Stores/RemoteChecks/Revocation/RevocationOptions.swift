// SPDX-License-Identifier: Apache-2.0

package import ReceiptCrypto

/// The options of a ``RevocationChecker``.
///
/// The defaults are strict, except that certificates that name neither responder nor list pass.
public struct RevocationOptions: Sendable {
  /// The rule for a certificate whose revocation status could not be obtained.
  public enum UnreachableRule: Sendable, Hashable {
    /// The verdict is undetermined, and asking again may help.
    case hardFailure
    /// The certificate passes, and ``RevocationOptions/report`` is called. An attacker who can block the responder can
    /// then hide a revocation.
    case softFailure
  }

  /// The rule for a certificate that names neither responder nor list.
  public enum NoPointerRule: Sendable, Hashable {
    /// The certificate passes. Stores of your own and test authorities have no responder; Apple's certificates name
    /// one.
    case accept
    /// The receipt is refused.
    case refuse
  }

  /// The rule for a certificate that has expired since the receipt was signed.
  public enum ExpiredRule: Sendable, Hashable {
    /// The responder is asked as for any other certificate, though it need no longer know an expired one (RFC 5280
    /// section 3.3).
    case ask
    /// The certificate passes without a request, because its issuer may no longer know whether it was revoked.
    case accept
  }

  /// The rule for a revoked certificate.
  public enum RevokedRule: Sendable, Hashable {
    /// The receipt is refused, whenever it was signed.
    case refuse
    /// The receipt passes if it states a signing time before the revocation and the reason is superseded,
    /// cessationOfOperation or affiliationChanged: the key was not compromised.
    case acceptSignedBeforeBenignRevocation
  }

  /// An event about one certificate that is worth a line in a log.
  public struct Note: Sendable, Hashable, CustomStringConvertible {
    package enum Subject: String, Sendable, Hashable, CaseIterable {
      /// The certificate passed although its status could not be obtained.
      case softFailure = "soft-failure"
      /// The certificate passed because it names neither responder nor list.
      case noPointer = "no-pointer"
      /// The certificate passed because it has expired.
      case expired
      /// The certificate is revoked, and passed because the receipt was signed before.
      case revokedLater = "revoked-later"
      /// The cached status is still valid, but its early renewal failed.
      case refreshFailed = "refresh-failed"
    }

    package let subject: Subject
    package let certificate: Certificate
    /// A sentence that describes the event.
    public let message: String

    /// The subject and the message.
    public var description: String { "\(subject.rawValue): \(message)" }
  }

  /// The rule for a certificate whose status could not be obtained; a hard failure by default.
  public var unreachable: UnreachableRule = .hardFailure
  /// The rule for a certificate that names neither responder nor list; it passes by default.
  public var noPointer: NoPointerRule = .accept
  /// The rule for an expired certificate; the responder is asked by default.
  public var expired: ExpiredRule = .ask
  /// The rule for a revoked certificate; the receipt is refused by default.
  public var revoked: RevokedRule = .refuse
  /// A responder to ask about every certificate instead of the one it names; `nil` by default.
  ///
  /// Use it for tests and for mirrored responders.
  public var responderURL: RemoteURL?
  /// Indicates whether requests carry a nonce, which prevents the replay of an old response; `true` by default.
  public var sendsNonce = true
  /// Indicates whether a response must repeat the nonce; `false` by default.
  ///
  /// Responders that sign responses in advance, Apple's among them, do not repeat it.
  public var requiresNonce = false
  /// The hash that identifies certificates in requests; SHA-1 by default. Every responder understands SHA-1, and
  /// security does not depend on this hash.
  package var identifierHash: DigestAlgorithm = .sha1
  /// The retry policy for a responder; by default two attempts of 5 seconds each, 10 seconds in all.
  public var retryPolicy = RetryPolicy(
    maximumAttempts: 2, deadline: .seconds(10), attemptTimeout: .seconds(5))
  /// The longest time that a status is cached, even if its `nextUpdate` is later; 7 days by default.
  public var maximumLifetime: Duration = .seconds(7 * 86_400)
  /// The time after a failure during which the same certificate is not asked about again; 5 seconds by default.
  public var failureHold: Duration = .seconds(5)
  /// Called for each ``RevocationOptions/Note``, on an arbitrary thread; `nil` by default.
  public var report: (@Sendable (Note) -> Void)?

  /// Creates the default options.
  public init() {}
}
