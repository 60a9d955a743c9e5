// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec

/// The result of verifying a receipt.
///
/// It is indirect because every stage of a batch copies verdicts: a copy then retains one reference instead of a dozen.
public indirect enum Verdict: Sendable, Hashable {
  /// The receipt is genuine and meets the policy.
  case valid(VerifiedReceipt)
  /// The receipt is not genuine or does not meet the policy.
  case invalid(InvalidReceipt)
  /// The receipt could not be checked; treat it neither as valid nor as proof of a forgery.
  case undetermined(UndeterminedReceipt)

  /// The verified receipt of a valid verdict.
  public var receipt: VerifiedReceipt? {
    if case .valid(let receipt) = self { receipt } else { nil }
  }

  /// The reason for an invalid or undetermined verdict.
  public var reason: Reason? {
    switch self {
    case .valid: nil
    case .invalid(let receipt): receipt.reason
    case .undetermined(let receipt): receipt.reason
    }
  }

  /// The answers of remote checkers, in the order asked; empty if none was asked.
  public var checks: [CheckerReport] {
    switch self {
    case .valid(let receipt): receipt.checks
    case .invalid(let receipt): receipt.checks
    case .undetermined(let receipt): receipt.checks
    }
  }

  /// The receipt if its signature is valid and its validity depends only on a checker or on proof of the environment.
  /// Its content was signed; only the verdict decides whether the receipt is valid.
  package var signatureVerified: VerifiedReceipt? {
    switch self {
    case .valid(let receipt): receipt
    case .invalid(let receipt): receipt.signatureVerified
    case .undetermined(let receipt): receipt.signatureVerified
    }
  }

  /// Returns the same verdict with the receipt that was valid locally, if the verdict is invalid.
  func on(_ receipt: VerifiedReceipt) -> Verdict {
    guard case .invalid(var invalid) = self else { return self }
    invalid.signatureVerified = receipt
    return .invalid(invalid)
  }

  /// Returns an invalid verdict for a valid receipt that a source refuses, with the source among the checks.
  package func refused(by checker: String, _ message: String) -> Verdict {
    guard case .valid(let receipt) = self else { return self }
    let reason = Reason(.checkerRefused, at: "checker \(checker)", message)
    let report = CheckerReport(
      name: checker, answer: .response(CheckerResponse(.refused(message: message))), duration: .zero)
    return Verdict.invalid(InvalidReceipt(reason: reason, claimedKind: receipt.kind)).on(receipt)
      .recording(checks.filter { $0.name != checker } + [report])
  }

  /// Returns the same verdict with the answers of the checkers.
  func recording(_ checks: [CheckerReport]) -> Verdict {
    switch self {
    case .valid(var receipt):
      receipt.checks = checks
      return .valid(receipt)
    case .invalid(var receipt):
      receipt.checks = checks
      return .invalid(receipt)
    case .undetermined(var receipt):
      receipt.checks = checks
      return .undetermined(receipt)
    }
  }

  /// The kind of the receipt, if it is known; for an invalid receipt, only the kind that the bytes claim.
  public var kind: ReceiptKind? {
    switch self {
    case .valid(let receipt): receipt.kind
    case .invalid(let receipt): receipt.claimedKind
    case .undetermined(let receipt): receipt.claimedKind
    }
  }
}

extension Verdict {
  /// The initial value of a verdict, until there is a result.
  static let missing = ValidationError.missingResult.verdict(claimedKind: nil)
}

/// The reason that a receipt is not valid: a stable code, a place, and a message with the remedy.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
  /// The stable code.
  public let code: ReasonCode
  /// The place: a byte offset, an attribute, a JSON path or a certificate; empty for the receipt as a whole.
  public let place: String
  /// The finding, the expectation and the remedy, in one or two sentences on one line.
  ///
  /// It may quote the receipt, with control characters replaced.
  public let message: String

  init(_ code: ReasonCode, at place: String = "", _ message: String) {
    self.code = code
    self.place = ShownText.plain(place, limit: 800)
    self.message = ShownText.plain(message, limit: 800)
  }

  init(_ error: MalformedReceipt) {
    self.init(.malformed, at: error.place == .whole ? "" : error.place.description, error.message)
  }

  /// Returns the same reason for a part inside another receipt.
  func inside(_ outerPlace: String) -> Reason {
    Reason(code, at: place.isEmpty ? outerPlace : "\(outerPlace), \(place)", message)
  }

  /// The code, message and place in one line.
  public var description: String {
    place.isEmpty ? "\(code.rawValue): \(message)" : "\(code.rawValue): \(message) (\(place))"
  }
}

/// A receipt that is not genuine or does not meet the policy.
public struct InvalidReceipt: Sendable, Hashable {
  /// The reason that it is invalid.
  public let reason: Reason
  /// The kind that the bytes claim to be, unverified; `nil` if it is not known.
  public let claimedKind: ReceiptKind?
  /// The answers of remote checkers, in the order asked; empty if none was asked.
  public internal(set) var checks: [CheckerReport] = []
  /// The receipt with its valid signature, if a checker refused it, or if its purchase has expired.
  var signatureVerified: VerifiedReceipt?
}

/// A receipt that could not be checked.
public struct UndeterminedReceipt: Sendable, Hashable {
  /// The reason that it could not be checked.
  public let reason: Reason
  /// `true` if a retry may yield an answer; otherwise something must be supplied or decided first.
  public let isRetryable: Bool
  /// The kind that the bytes claim to be.
  ///
  /// It is unverified unless ``reason`` states that only the environment or a checker's answer is missing.
  public let claimedKind: ReceiptKind?
  /// The answers of remote checkers, in the order asked; empty if none was asked.
  public internal(set) var checks: [CheckerReport] = []

  /// The receipt with its valid signature, for checkers that can supply the missing part.
  let signatureVerified: VerifiedReceipt?

  /// The environment that the receipt claims, if its signature is valid and only proof of the environment or a
  /// checker's answer is missing.
  package var claimedEnvironment: ReceiptEnvironment? { signatureVerified?.environment }

  /// `true` if the environment that the receipt claims is proven and only a checker's answer is missing.
  public var isEnvironmentProven: Bool { signatureVerified?.isEnvironmentProven ?? false }
}
