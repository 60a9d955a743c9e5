// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A source of truth that is asked after the local checks: it knows what a signature cannot say, such as that
/// a purchase was refunded since.
public protocol RemoteChecker: Sendable {
  /// A short name for verdicts and logs, for example `app-store`.
  var name: String { get }

  /// Asks about a receipt whose signature is right. Its environment may still be a claim
  /// (``VerifiedReceipt/isEnvironmentProven``).
  func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer

  /// The same, with the record of it that becomes part of the verdict. A checker that asks others overrides it
  /// to record these as well; by default it times ``check(_:)``.
  func report(on receipt: VerifiedReceipt) async -> CheckerReport
}

extension RemoteChecker {
  /// Times ``check(_:)``.
  public func report(on receipt: VerifiedReceipt) async -> CheckerReport {
    let start = ContinuousClock.now
    let answer = await check(receipt)
    return CheckerReport(name: name, answer: answer, duration: ContinuousClock.now - start)
  }
}

/// What one checker said, and how long it took: part of the verdict.
public struct CheckerReport: Sendable, Hashable {
  /// ``RemoteChecker/name``.
  public let name: String
  /// What it said.
  public let answer: CheckerAnswer
  /// How long it took, waiting included.
  public let duration: Duration
  /// The reports of the checkers that this one asked, in the order in which they answered; empty for one that
  /// asks a source itself.
  public let parts: [CheckerReport]
  /// The checker whose answer this is: the one itself, or for a composition the one inside that decided.
  public let decidedBy: String

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - name: The checker's name.
  ///   - answer: What it said.
  ///   - duration: How long it took.
  ///   - parts: The reports of the checkers that it asked.
  ///   - decidedBy: The name of the one that decided; the checker's own by default.
  public init(
    name: String, answer: CheckerAnswer, duration: Duration, parts: [CheckerReport] = [],
    decidedBy: String? = nil
  ) {
    self.name = name
    self.answer = answer
    self.duration = duration
    self.parts = parts
    self.decidedBy = decidedBy ?? name
  }

  /// What it and those that it asked found revoked.
  var revokedTransactions: [CheckerResponse.RevokedTransaction] {
    var found = parts.flatMap(\.revokedTransactions)
    if case .response(let response) = answer { found += response.revokedTransactions }
    return found
  }
}

/// What a checker answers.
public enum CheckerAnswer: Sendable, Hashable {
  /// The source answered.
  case response(CheckerResponse)
  /// The source could not be asked, and asking again will not help: wrong credentials, for example.
  case terminalFailure(message: String)
  /// The source could not be asked now; asking again may help.
  case retryableFailure(message: String)
}

/// What the source says of the purchase.
public struct CheckerResponse: Sendable, Hashable {
  /// The standing of the purchase.
  public enum Standing: Sendable, Hashable {
    /// Known and in force.
    case confirmed
    /// Revoked or refunded, at the given time where it is known.
    case revoked(at: Timestamp?)
    /// Unknown to the source, or contradicting it.
    case refused(message: String)
  }

  /// The standing of the purchase.
  public var standing: Standing
  /// The environment in which the source found it, where it says so. It determines an environment that the
  /// receipt only claims, or leaves out, and must be the one that a receipt proves.
  public var environment: ReceiptEnvironment.Category?
  /// Of a receipt with several purchases, those that were revoked or refunded while others stand. The verified
  /// receipt then states their revocation (``VerifiedReceipt/transactions``).
  public var revokedTransactions: [RevokedTransaction]
  /// What a person should know of a confirmation, such as that part of it could not be asked and did not have to
  /// be; `nil` for nothing.
  public var note: String?

  /// Creates a response.
  public init(
    _ standing: Standing, environment: ReceiptEnvironment.Category? = nil,
    revokedTransactions: [RevokedTransaction] = [], note: String? = nil
  ) {
    self.standing = standing
    self.environment = environment
    self.revokedTransactions = revokedTransactions
    self.note = note
  }

  /// A purchase that a source says was revoked or refunded.
  public struct RevokedTransaction: Sendable, Hashable {
    /// The purchase.
    public let transactionId: String
    /// When it was revoked; where the source does not say, when it was asked.
    public let revocationDate: Timestamp

    /// Creates one.
    public init(transactionId: String, revocationDate: Timestamp) {
      self.transactionId = transactionId
      self.revocationDate = revocationDate
    }
  }
}
