// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// How a ``RevocationChecker`` asks, and what it makes of the answers. The defaults are strict, except that
/// certificates without any pointer pass.
public struct RevocationOptions: Sendable {
  /// The rule where no responder could be reached.
  public enum UnreachableRule: Sendable, Hashable {
    /// The receipt is undetermined, and asking again may help.
    case hardFailure
    /// The certificate passes, and ``RevocationOptions/report`` is told. An attacker who can keep the
    /// responder from being reached can then hide a revocation.
    case softFailure
  }

  /// What it means that a certificate says neither where to ask nor where a list is.
  public enum NoPointerRule: Sendable, Hashable {
    /// It passes: stores of your own and test authorities have no responder. Apple's certificates have.
    case accept
    /// The receipt is refused.
    case refuse
  }

  /// What to do with a certificate that has expired since the receipt was signed.
  public enum ExpiredRule: Sendable, Hashable {
    /// It is asked about as any other, though its issuer need not know it any more (RFC 5280 section 3.3).
    case ask
    /// It passes without a request: whether it was revoked before it expired can no longer be learned.
    case accept
  }

  /// What it means that a certificate was revoked.
  public enum RevokedRule: Sendable, Hashable {
    /// The receipt is refused, whenever it was signed.
    case refuse
    /// A receipt that states a signing time before the revocation stands, if the reason of the revocation is
    /// superseded, cessationOfOperation or affiliationChanged: the key was not compromised.
    case acceptSignedBeforeBenignRevocation
  }

  /// What happened to one certificate that is worth a line in a log.
  public struct Note: Sendable, Hashable, CustomStringConvertible {
    /// What it is about.
    public enum Subject: String, Sendable, Hashable, CaseIterable {
      /// Accepted though no responder could be reached.
      case softFailure = "soft-failure"
      /// Accepted because it names neither responder nor list.
      case noPointer = "no-pointer"
      /// Passed because it has expired.
      case expired
      /// Revoked, and passed because the receipt is older.
      case revokedLater = "revoked-later"
      /// The cached answer is still valid, but could not be renewed in advance.
      case refreshFailed = "refresh-failed"
    }

    /// What it is about.
    public let subject: Subject
    /// The certificate.
    public let certificate: Certificate
    /// In words.
    public let message: String

    /// Subject and message.
    public var description: String { "\(subject.rawValue): \(message)" }
  }

  /// The rule where no responder could be reached; a hard failure by default.
  public var unreachable: UnreachableRule = .hardFailure
  /// The rule for a certificate without a pointer; accepted by default.
  public var noPointer: NoPointerRule = .accept
  /// What to do with expired certificates; asked about by default.
  public var expired: ExpiredRule = .ask
  /// What it means that a certificate was revoked; the receipt is refused by default.
  public var revoked: RevokedRule = .refuse
  /// Asked about every certificate in place of the responder that it names: for tests and for responders that
  /// are mirrored. `nil` by default.
  public var responderURL: RemoteURL?
  /// Whether requests carry a nonce, so that no old response can be given for a new one; they do by default.
  public var sendsNonce = true
  /// Whether a response must repeat the nonce. Responders that make responses ahead, Apple's among them, do
  /// not; `false` by default.
  public var requiresNonce = false
  /// What certificates are named by in requests. SHA-1 by default, which every responder understands; nothing
  /// rests on it.
  public var identifierHash: DigestAlgorithm = .sha1
  /// How often and how long a responder is tried: twice, 10 seconds in all by default.
  public var retryPolicy = RetryPolicy(
    maximumAttempts: 2, deadline: .seconds(10), attemptTimeout: .seconds(5))
  /// The longest that an answer is kept, however far its nextUpdate is; 7 days by default.
  public var maximumLifetime: Duration = .seconds(7 * 86_400)
  /// How long after a failure a responder is not asked again about the same certificate; 5 seconds by
  /// default.
  public var failureHold: Duration = .seconds(5)
  /// Told what passed without a good answer, on whatever thread it happens. `nil` by default.
  public var report: (@Sendable (Note) -> Void)?

  /// The strict defaults.
  public init() {}
}
