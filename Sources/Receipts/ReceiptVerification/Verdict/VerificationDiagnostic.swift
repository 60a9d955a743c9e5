// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// One decision on the way to a verdict, for logs and troubleshooting.
public struct VerificationDiagnostic: Sendable, Hashable, CustomStringConvertible {
  /// The subject of the decision.
  public let step: Step
  /// `true` if the decision was in favor of the receipt.
  public let passed: Bool
  /// The decision in a sentence, for people, not for programs; it may quote unverified content.
  public let message: String

  init(step: Step, passed: Bool, message: String) {
    self.step = step
    self.passed = passed
    self.message = ShownText.plain(message, limit: 800)
  }

  /// The step, outcome and message in one line.
  public var description: String { "\(step.rawValue): \(passed ? "passed" : "failed"): \(message)" }
}

/// The diagnostics of one receipt in the order of its decisions, collected until its verdict is reached.
final class Trace {
  private var diagnostics: [VerificationDiagnostic] = []

  init() {}

  /// Begins with the recognition of a receipt.
  init(of receipt: RecognizedReceipt) {
    switch receipt {
    case .message(let message): add(.recognition, passed: true, message.format.terms.name)
    case .refused(let receipt, _): add(.recognition, passed: true, receipt.format.terms.name)
    case .malformed(let error): add(.recognition, passed: false, error.reason.description)
    }
  }

  func add(_ step: VerificationDiagnostic.Step, passed: Bool, _ message: String) {
    diagnostics.append(VerificationDiagnostic(step: step, passed: passed, message: message))
  }

  func add(_ part: Trace?) { diagnostics += part?.diagnostics ?? [] }

  func report(to report: (VerificationDiagnostic) -> Void) {
    for diagnostic in diagnostics { report(diagnostic) }
  }
}
