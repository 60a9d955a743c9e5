// SPDX-License-Identifier: Apache-2.0

/// The diagnostics of one receipt, in the order of its decisions, until its verdict stands.
final class Trace {
  private var diagnostics: [VerificationDiagnostic] = []

  /// Adds a decision.
  func add(_ step: VerificationDiagnostic.Step, passed: Bool, _ message: String) {
    diagnostics.append(VerificationDiagnostic(step: step, passed: passed, message: message))
  }

  /// Adds the decisions on a part of the receipt.
  func add(_ part: Trace?) { diagnostics += part?.diagnostics ?? [] }

  /// Hands the decisions over.
  func report(to report: (VerificationDiagnostic) -> Void) {
    for diagnostic in diagnostics { report(diagnostic) }
  }
}
