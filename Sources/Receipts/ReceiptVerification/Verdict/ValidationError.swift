// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

/// What ends a verification: a refusal, or something that could not be checked.
struct ValidationError: Error {
  enum Outcome {
    case invalid
    case undetermined(isRetryable: Bool, signatureVerified: VerifiedReceipt?)
  }

  let reason: Reason
  let outcome: Outcome

  var isRetryable: Bool {
    if case .undetermined(true, _) = outcome { true } else { false }
  }

  /// Not genuine, or not what the policy demands.
  static func invalid(_ code: ReasonCode, at place: String = "", _ message: String) -> ValidationError {
    ValidationError(reason: Reason(code, at: place, message), outcome: .invalid)
  }

  static func invalid(_ reason: Reason) -> ValidationError {
    ValidationError(reason: reason, outcome: .invalid)
  }

  static func malformed(_ error: MalformedReceipt) -> ValidationError {
    ValidationError(reason: Reason(error), outcome: .invalid)
  }

  /// Could not be checked, and trying again changes nothing.
  static func undetermined(_ reason: Reason, signatureVerified: VerifiedReceipt? = nil) -> ValidationError {
    ValidationError(
      reason: reason, outcome: .undetermined(isRetryable: false, signatureVerified: signatureVerified))
  }

  /// libcrypto could not compute an answer: it lacks memory or an algorithm. Nothing follows for the receipt.
  static func notComputed(_ error: CryptoError, at place: String) -> ValidationError {
    ValidationError(
      reason: Reason(
        .internalFault, at: place,
        "libcrypto could not compute this: \(error). Nothing follows for the receipt; verify it again."),
      outcome: .undetermined(isRetryable: true, signatureVerified: nil))
  }

  /// Stands where a result belongs until there is one, so that a fault of ours never gives one receipt's verdict to
  /// the next.
  static let missingResult = ValidationError(
    reason: Reason(.internalFault, "The verifier produced no result; please report this as a bug."),
    outcome: .undetermined(isRetryable: true, signatureVerified: nil))

  static func signatureMismatch(of evidence: any Evidence, by signer: KnownSigner) -> ValidationError {
    let (place, covers) = evidence.format.signatureTerms
    let explanation =
      evidence.explanationOfMismatch(by: signer)
      ?? "a byte of it or of the signature was changed, or another key signed."
    return .invalid(
      .signatureMismatch, at: place,
      "The \(evidence.algorithm.rawValue) signature does not match \(covers): \(explanation)")
  }

  /// The same error, of a part inside another receipt.
  func inside(_ outerPlace: String) -> ValidationError {
    let outcome: Outcome =
      switch self.outcome {
      case .invalid: .invalid
      case .undetermined(let isRetryable, _):
        .undetermined(isRetryable: isRetryable, signatureVerified: nil)
      }
    return ValidationError(reason: reason.inside(outerPlace), outcome: outcome)
  }

  func verdict(claimedKind: ReceiptKind?) -> Verdict {
    switch outcome {
    case .invalid:
      .invalid(InvalidReceipt(reason: reason, claimedKind: claimedKind))
    case .undetermined(let isRetryable, let signatureVerified):
      .undetermined(
        UndeterminedReceipt(
          reason: reason, isRetryable: isRetryable, claimedKind: claimedKind,
          signatureVerified: signatureVerified))
    }
  }
}
