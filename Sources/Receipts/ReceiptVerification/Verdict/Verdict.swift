// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec

/// What a verifier concludes on a receipt.
///
/// It is indirect so that copying one, which every stage of a batch does, counts one reference instead of a dozen.
public indirect enum Verdict: Sendable, Hashable {
  /// Genuine, and all that the policy demands.
  case valid(VerifiedReceipt)
  /// Not genuine, or not what the policy demands.
  case invalid(InvalidReceipt)
  /// Could not be checked. Never to be treated as valid, nor as proof of a forgery.
  case undetermined(UndeterminedReceipt)

  /// The verified receipt of a valid verdict.
  public var receipt: VerifiedReceipt? {
    if case .valid(let receipt) = self { receipt } else { nil }
  }

  /// The reason of an invalid or undetermined verdict.
  public var reason: Reason? {
    switch self {
    case .valid: nil
    case .invalid(let receipt): receipt.reason
    case .undetermined(let receipt): receipt.reason
    }
  }

  /// What remote checkers said, in the order asked; empty if none was asked.
  public var checks: [CheckerReport] {
    switch self {
    case .valid(let receipt): receipt.checks
    case .invalid(let receipt): receipt.checks
    case .undetermined(let receipt): receipt.checks
    }
  }

  /// The receipt, where its signature was found right and no more than a checker's refusal or answer, or proof of
  /// the environment, stands between it and validity. What it says was signed; whether it counts is for the verdict.
  package var signatureVerified: VerifiedReceipt? {
    switch self {
    case .valid(let receipt): receipt
    case .invalid(let receipt): receipt.refusedByChecker
    case .undetermined(let receipt): receipt.signatureVerified
    }
  }

  /// The same verdict on a receipt that was locally found right.
  func on(_ receipt: VerifiedReceipt) -> Verdict {
    guard case .invalid(var invalid) = self else { return self }
    invalid.refusedByChecker = receipt
    return .invalid(invalid)
  }

  /// The verdict on a valid receipt that a source refuses after all: invalid, with the source among the checks.
  ///
  /// - Parameters:
  ///   - checker: The source's name. What it said before is replaced.
  ///   - message: Why it refuses the receipt.
  /// - Returns: The verdict; one that was not valid before as it is.
  package func refused(by checker: String, _ message: String) -> Verdict {
    guard case .valid(let receipt) = self else { return self }
    let reason = Reason(.checkerRefused, at: "checker \(checker)", message)
    let report = CheckerReport(
      name: checker, answer: .response(CheckerResponse(.refused(message: message))), duration: .zero)
    return Verdict.invalid(InvalidReceipt(reason: reason, claimedKind: receipt.kind)).on(receipt)
      .recording(checks.filter { $0.name != checker } + [report])
  }

  /// The same verdict with what the checkers said.
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

  /// The kind of the receipt, where it could be told. For an invalid one it is only what the bytes claim.
  public var kind: ReceiptKind? {
    switch self {
    case .valid(let receipt): receipt.kind
    case .invalid(let receipt): receipt.claimedKind
    case .undetermined(let receipt): receipt.claimedKind
    }
  }
}

extension Verdict {
  /// The fourth stage: the verdict on a receipt, from what the policy accepted or why verification ended.
  init(
    claimedKind: @autoclosure () -> ReceiptKind?, trace: Trace?,
    of accepted: () throws(ValidationError) -> VerifiedReceipt
  ) {
    do throws(ValidationError) {
      self = .valid(try accepted())
      trace?.add(.verdict, passed: true, "valid")
    } catch {
      trace?.add(.verdict, passed: false, error.reason.description)
      self = error.verdict(claimedKind: claimedKind())
    }
  }

  /// Stands where a verdict belongs until there is one.
  static let missing = ValidationError.missingResult.verdict(claimedKind: nil)
}

/// Why a receipt is not valid: a stable code, the place, and what to do.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
  /// The stable code.
  public let code: ReasonCode
  /// Where: a byte offset, an attribute, a JSON path, a certificate; empty when it is the receipt as a whole.
  public let place: String
  /// What was found, what was expected, and what to do, in a sentence or two on one line. It may quote the
  /// receipt, control characters replaced.
  public let message: String

  init(_ code: ReasonCode, at place: String = "", _ message: String) {
    self.code = code
    self.place = ShownText.plain(place, limit: 800)
    self.message = ShownText.plain(message, limit: 800)
  }

  init(_ error: MalformedReceipt) {
    self.init(.malformed, at: error.place == .whole ? "" : error.place.description, error.message)
  }

  /// The same reason for a part inside another receipt.
  func inside(_ outerPlace: String) -> Reason {
    Reason(code, at: place.isEmpty ? outerPlace : "\(outerPlace), \(place)", message)
  }

  /// Code, message and place in one line.
  public var description: String {
    place.isEmpty ? "\(code.rawValue): \(message)" : "\(code.rawValue): \(message) (\(place))"
  }
}

/// A receipt that is not genuine, or not what the policy demands.
public struct InvalidReceipt: Sendable, Hashable {
  /// Why.
  public let reason: Reason
  /// The kind that the bytes claim to be, where that could be told. Unverified.
  public let claimedKind: ReceiptKind?
  /// What remote checkers said, in the order asked; empty if none was asked.
  public internal(set) var checks: [CheckerReport] = []
  /// The receipt whose signature is right, where it was a checker that refused it.
  var refusedByChecker: VerifiedReceipt?
}

/// A receipt that could not be checked.
public struct UndeterminedReceipt: Sendable, Hashable {
  /// Why not.
  public let reason: Reason
  /// Whether trying again later may give an answer; otherwise something must be supplied or decided first.
  public let isRetryable: Bool
  /// The kind that the bytes claim to be. Unverified unless ``reason`` says that only the environment or a
  /// checker's answer is missing.
  public let claimedKind: ReceiptKind?
  /// What remote checkers said, in the order asked; empty if none was asked.
  public internal(set) var checks: [CheckerReport] = []

  /// The receipt whose signature is right, for checkers that can supply what is missing.
  let signatureVerified: VerifiedReceipt?

  /// The environment that the receipt claims, when its signature was found right and no more than proof of the
  /// environment, or a checker's answer, is missing.
  public var claimedEnvironment: ReceiptEnvironment? { signatureVerified?.environment }

  /// Whether ``claimedEnvironment`` is signed, and only a checker's answer is missing.
  public var isEnvironmentProven: Bool { signatureVerified?.isEnvironmentProven ?? false }
}
