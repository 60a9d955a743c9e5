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
  /// The environment in which the source found it, where it says so. It settles an environment that the
  /// receipt only claims, or leaves out, and must be the one that a receipt proves.
  public var environment: ReceiptEnvironment.Category?

  /// Creates a response.
  public init(_ standing: Standing, environment: ReceiptEnvironment.Category? = nil) {
    self.standing = standing
    self.environment = environment
  }
}
