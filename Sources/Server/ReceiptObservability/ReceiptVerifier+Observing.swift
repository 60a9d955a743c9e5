// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  internal import Logging
  internal import ReceiptCodec
  public import ReceiptVerification

  extension ReceiptVerifier {
    /// Verifies a receipt of any kind, and reports the verdict and the time that it took.
    public func verify(_ bytes: [UInt8], observer: ReceiptObserver) -> Verdict {
      let start = ContinuousClock.now
      let verdict = verify(bytes)
      observer.report(verdict, after: ContinuousClock.now - start)
      return verdict
    }

    /// Verifies a receipt of any kind, asks each checker, and reports the verdict, the result of each checker, and the
    /// time that it took.
    public func verify(
      _ bytes: [UInt8], checkers: [any RemoteChecker], observer: ReceiptObserver
    ) async -> Verdict {
      let start = ContinuousClock.now
      let verdict = await verify(bytes, checkers: checkers)
      observer.report(verdict, after: ContinuousClock.now - start)
      return verdict
    }
  }

  extension ReceiptObserver {
    /// Reports a verdict that was reached without an observer, such as one of a batch.
    ///
    /// - Parameters:
    ///   - verdict: The verdict.
    ///   - duration: The time it took; `nil` if unknown.
    public func report(_ verdict: Verdict, after duration: Duration? = nil) {
      let dimensions = [
        ("verdict", verdict.word), ("kind", verdict.kind?.rawValue ?? "unknown"),
        ("reason", verdict.reason?.code.rawValue ?? "none"),
      ]
      count("receipt_verdicts", dimensions)
      if let duration { measure("receipt_verification_duration", duration, [("verdict", verdict.word)]) }
      for check in verdict.checks { report(check) }

      var metadata: Logger.Metadata = ["kind": "\(dimensions[1].1)"]
      if let id = verdict.receipt?.transactions.first?.transactionId { metadata["transactionId"] = "\(id)" }
      if let reason = verdict.reason {
        metadata["reason"] = "\(reason.code.rawValue)"
        if !reason.place.isEmpty { metadata["place"] = "\(reason.place)" }
      }
      switch verdict {
      case .valid: logger.debug("The receipt is valid.", metadata: metadata)
      case .invalid: logger.info("The receipt is invalid.", metadata: metadata)
      case .undetermined(let receipt):
        metadata["isRetryable"] = "\(receipt.isRetryable)"
        logger.warning("The receipt could not be checked.", metadata: metadata)
      }
    }

    private func report(_ check: CheckerReport) {
      count("receipt_checks", [("checker", check.name), ("answer", check.answer.name)])
      measure("receipt_check_duration", check.duration, [("checker", check.name)])
      switch check.answer {
      case .response: break
      case .retryableFailure(let message):
        logger.warning(
          "The checker could not be asked.", metadata: ["checker": "\(check.name)", "error": "\(message)"])
      case .terminalFailure(let message):
        logger.error(
          "The checker cannot be asked.", metadata: ["checker": "\(check.name)", "error": "\(message)"])
      }
      for part in check.parts { report(part) }
    }
  }

  extension CheckerAnswer {
    fileprivate var name: String {
      switch self {
      case .response: shown.word
      case .retryableFailure: "retryable-failure"
      case .terminalFailure: "terminal-failure"
      }
    }
  }
#endif
