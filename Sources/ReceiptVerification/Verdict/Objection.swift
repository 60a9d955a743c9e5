// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// What stops a verification: a refusal, or something that could not be checked.
struct Objection: Error {
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
  static func invalid(_ code: ReasonCode, at place: String = "", _ message: String) -> Objection {
    Objection(reason: Reason(code, at: place, message), outcome: .invalid)
  }

  static func invalid(_ reason: Reason) -> Objection { Objection(reason: reason, outcome: .invalid) }

  static func malformed(_ error: MalformedReceipt) -> Objection {
    Objection(reason: Reason(error), outcome: .invalid)
  }

  /// Could not be checked, and trying again changes nothing.
  static func undetermined(_ reason: Reason, signatureVerified: VerifiedReceipt? = nil) -> Objection {
    Objection(
      reason: reason, outcome: .undetermined(isRetryable: false, signatureVerified: signatureVerified))
  }

  /// The same objection, raised by a part inside another receipt.
  func inside(_ outerPlace: String) -> Objection {
    let outcome: Outcome =
      switch self.outcome {
      case .invalid: .invalid
      case .undetermined(let isRetryable, _):
        .undetermined(isRetryable: isRetryable, signatureVerified: nil)
      }
    return Objection(reason: reason.inside(outerPlace), outcome: outcome)
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
