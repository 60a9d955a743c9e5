// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// An error that ends a verification: a refusal, or a check that could not be made.
struct ValidationError: Error {
  enum Outcome {
    /// The receipt is the one that was refused, if its signature is valid and a store may know more.
    case invalid(signatureVerified: VerifiedReceipt? = nil)
    case undetermined(isRetryable: Bool, signatureVerified: VerifiedReceipt?)
  }

  let reason: Reason
  let outcome: Outcome

  var isRetryable: Bool {
    if case .undetermined(true, _) = outcome { true } else { false }
  }

  /// Creates the error of a receipt that is not genuine or does not meet the policy.
  static func invalid(_ code: ReasonCode, at place: String = "", _ message: String) -> ValidationError {
    ValidationError(reason: Reason(code, at: place, message), outcome: .invalid())
  }

  static func malformed(_ error: MalformedReceipt) -> ValidationError {
    ValidationError(reason: Reason(error), outcome: .invalid())
  }

  /// Creates the error of a receipt that could not be checked and for which a retry changes nothing.
  static func undetermined(_ reason: Reason, signatureVerified: VerifiedReceipt? = nil) -> ValidationError {
    ValidationError(
      reason: reason, outcome: .undetermined(isRetryable: false, signatureVerified: signatureVerified))
  }

  /// Creates the error of a computation that libcrypto could not perform because it lacks memory or an algorithm. The
  /// error says nothing about the receipt.
  static func notComputed(_ error: CryptoError, at place: String) -> ValidationError {
    ValidationError(
      reason: Reason(
        .internalFault, at: place,
        "libcrypto could not compute this: \(error). Nothing follows for the receipt; verify it again."),
      outcome: .undetermined(isRetryable: true, signatureVerified: nil))
  }

  /// The initial value of a result, so that a bug in this library never assigns one receipt's verdict to another.
  static let missingResult = ValidationError(
    reason: Reason(.internalFault, "The verifier produced no result; please report this as a bug."),
    outcome: .undetermined(isRetryable: true, signatureVerified: nil))

  /// Creates the error of a signature that does not match, with its likely cause as the second half of a sentence.
  static func signatureMismatch(of message: SignedMessage, cause: String? = nil) -> ValidationError {
    let (_, place, covers) = message.format.terms
    return .invalid(
      .signatureMismatch, at: place,
      "The \(message.algorithm.rawValue) signature does not match \(covers): "
        + (cause ?? "a byte of it or of the signature was changed, or another key signed."))
  }

  /// Returns the same error for a part inside another receipt.
  func inside(_ outerPlace: String) -> ValidationError {
    let outcome: Outcome =
      switch self.outcome {
      case .invalid: .invalid()
      case .undetermined(let isRetryable, _):
        .undetermined(isRetryable: isRetryable, signatureVerified: nil)
      }
    return ValidationError(reason: reason.inside(outerPlace), outcome: outcome)
  }

  func verdict(claimedKind: ReceiptKind?) -> Verdict {
    switch outcome {
    case .invalid(let signatureVerified):
      .invalid(
        InvalidReceipt(reason: reason, claimedKind: claimedKind, signatureVerified: signatureVerified))
    case .undetermined(let isRetryable, let signatureVerified):
      .undetermined(
        UndeterminedReceipt(
          reason: reason, isRetryable: isRetryable, claimedKind: claimedKind,
          signatureVerified: signatureVerified))
    }
  }
}
