// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// One decision on the way to a verdict, for logs and for people who ask why.
public struct VerificationDiagnostic: Sendable, Hashable, CustomStringConvertible {
  /// What was decided.
  public enum Step: String, Sendable, Hashable, CaseIterable {
    /// Which kind of receipt the bytes are.
    case recognition
    /// Whether the certificates lead to a trusted root and are meant for receipts.
    case chain
    /// Whether the signature matches.
    case signature
    /// Whether the content could be decoded.
    case content
    /// Whether the time rule holds.
    case time
    /// Whether the policy's other demands hold.
    case policy
    /// What a remote checker said.
    case checker
    /// The outcome.
    case verdict
  }

  /// What was decided.
  public let step: Step
  /// Whether it spoke for the receipt.
  public let passed: Bool
  /// The decision in a sentence. It may quote unverified content; it is for people, not for programs.
  public let message: String

  init(step: Step, passed: Bool, message: String) {
    self.step = step
    self.passed = passed
    self.message = ShownText.plain(message, limit: 800)
  }

  /// Step, outcome and message in one line.
  public var description: String { "\(step.rawValue): \(passed ? "passed" : "failed"): \(message)" }
}

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
