// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Asks checkers about a receipt after its local verdict.
struct RemoteConsultation {
  let evaluator: PolicyEvaluator
  let checkers: [any RemoteChecker]
  let report: (@Sendable (VerificationDiagnostic) -> Void)?

  private var policy: VerificationPolicy { evaluator.policy }

  /// Asks the checkers in turn and returns the verdict: see ``ReceiptVerifier/verify(_:checkers:)``.
  func verdict(on local: Verdict) async -> Verdict {
    guard let verified = local.signatureVerified, !checkers.isEmpty else { return local }
    var receipt = verified
    var open: UndeterminedReceipt?
    // An expired purchase is not open: whether it was renewed is evaluated below, as any standing is.
    if case .undetermined(let undetermined) = local { open = undetermined }

    var unanswered: ValidationError?
    var reports: [CheckerReport] = []
    for checker in checkers.asked(about: receipt.kind) {
      let report = await checker.report(on: receipt)
      reports.append(report)
      do throws(ValidationError) {
        if let environment = try evaluate(report.answer, of: report.decidedBy, on: receipt) {
          if !receipt.isEnvironmentProven { receipt = receipt.determining(environment) }
          if open?.reason.code == .environmentUnproven { open = nil }
        }
        explain(.checker, passed: true, "\(checker.name): \(report.answer.shown.word)")
      } catch {
        explain(.checker, passed: false, error.reason.description)
        if case .invalid = error.outcome {
          explain(.verdict, passed: false, error.reason.description)
          return error.verdict(claimedKind: receipt.kind).on(receipt).recording(reports)
        }
        if error.isRetryable, policy.offlineRule.accepts(without: checker.name) { continue }
        // A retryable failure takes precedence over a terminal one: if asked again, that checker may refuse the
        // receipt.
        if unanswered == nil || error.isRetryable && unanswered?.isRetryable == false { unanswered = error }
      }
    }
    receipt.checks = reports
    if unanswered == nil, open == nil || open?.reason.code == .standingUnknown {
      do throws(ValidationError) {
        try evaluator.requireCurrentPurchase(of: receipt)
        open = nil
      } catch {
        explain(.verdict, passed: false, error.reason.description)
        return error.verdict(claimedKind: receipt.kind).on(receipt).recording(reports)
      }
    }
    if let reason = unanswered?.reason ?? open?.reason {
      explain(.verdict, passed: false, reason.description)
    }
    if let unanswered { return unanswered.verdict(claimedKind: receipt.kind).recording(reports) }
    if let open { return Verdict.undetermined(open).recording(reports) }
    explain(.verdict, passed: true, "valid")
    return .valid(receipt)
  }

  /// Returns the environment that a confirming checker found.
  private func evaluate(
    _ answer: CheckerAnswer, of name: String, on receipt: VerifiedReceipt
  ) throws(ValidationError) -> ReceiptEnvironment.Category? {
    switch answer {
    case .terminalFailure(let message), .retryableFailure(let message):
      let isRetryable = if case .retryableFailure = answer { true } else { false }
      throw ValidationError(
        reason: Reason(.checkerUnavailable, at: "checker \(name)", message),
        outcome: .undetermined(isRetryable: isRetryable, signatureVerified: receipt))
    case .response(let response):
      if let environment = response.environment, !policy.environments(of: receipt.kind).contains(environment)
      {
        throw .invalid(
          .wrongEnvironment, at: "checker \(name)",
          "The source found the purchase in the environment \(environment.rawValue), which the policy does "
            + "not accept.")
      }
      if let environment = response.environment, receipt.isEnvironmentProven,
        let proven = receipt.environment?.category, proven != environment
      {
        throw .invalid(
          .checkerRefused, at: "checker \(name)",
          "The source found the purchase in the environment \(environment.rawValue); it is one of "
            + "\(proven.rawValue).")
      }
      switch response.standing {
      case .confirmed: return response.environment
      case .unknown: return nil
      case .revoked(let instant):
        throw .invalid(
          .revoked, at: "checker \(name)",
          "The store revoked or refunded the purchase\(instant.map { " at \($0.iso8601)" } ?? "").")
      case .refused(let message):
        throw .invalid(.checkerRefused, at: "checker \(name)", message)
      }
    }
  }

  private func explain(
    _ step: VerificationDiagnostic.Step, passed: Bool, _ message: @autoclosure () -> String
  ) {
    report?(VerificationDiagnostic(step: step, passed: passed, message: message()))
  }
}
