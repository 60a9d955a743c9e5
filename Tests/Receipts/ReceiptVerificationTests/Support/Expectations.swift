// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptVerification
import Testing

/// Expects a refusal with exactly this code and place.
func expectInvalid(
  _ verdict: Verdict, _ code: ReasonCode, at place: String = "", _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard case .invalid(let invalid) = verdict else {
    Issue.record("not invalid but \(verdict.summary). \(comment ?? "")", sourceLocation: sourceLocation)
    return
  }
  #expect(
    invalid.reason.code == code && invalid.reason.place == place,
    "\(invalid.reason). \(comment ?? "")",
    sourceLocation: sourceLocation)
}

/// Expects that it could not be checked, for exactly this reason.
func expectUndetermined(
  _ verdict: Verdict, _ code: ReasonCode, at place: String = "", isRetryable: Bool = false,
  _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) {
  guard case .undetermined(let undetermined) = verdict else {
    Issue.record("not undetermined but \(verdict.summary). \(comment ?? "")", sourceLocation: sourceLocation)
    return
  }
  #expect(
    undetermined.reason.code == code && undetermined.reason.place == place
      && undetermined.isRetryable == isRetryable,
    "\(undetermined.reason), \(undetermined.reason.place), retryable \(undetermined.isRetryable). \(comment ?? "")",
    sourceLocation: sourceLocation)
}

/// Expects a valid verdict and gives its receipt.
@discardableResult
func expectValid(
  _ verdict: Verdict, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
) -> VerifiedReceipt? {
  guard case .valid(let receipt) = verdict else {
    Issue.record("not valid but \(verdict.summary). \(comment ?? "")", sourceLocation: sourceLocation)
    return nil
  }
  return receipt
}

extension Verdict {
  /// The verdict in a line, for failing tests.
  var summary: String {
    switch self {
    case .valid(let receipt): "valid \(receipt.kind.rawValue)"
    case .invalid(let receipt): "invalid: \(receipt.reason)"
    case .undetermined(let receipt): "undetermined: \(receipt.reason)"
    }
  }

  var isValid: Bool { receipt != nil }
}
