// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification
internal import Synchronization

/// A remote checker for tests. It gives fixed answers, and records the receipts that it receives.
///
/// ```swift
/// let checker = FakeChecker(answers: [.retryableFailure(message: "busy"), .response(.init(.confirmed))])
/// let verdict = await verifier.verify(receipt, checkers: [checker])
/// ```
public final class FakeChecker: RemoteChecker {
  private struct State {
    var answers: [CheckerAnswer]
    var checked: [VerifiedReceipt] = []
  }

  /// The name in verdicts.
  public let name: String
  /// The kinds of receipts that it is asked about; `nil` for every kind.
  public let kinds: Set<ReceiptKind>?
  private let state: Mutex<State>

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - name: The name in verdicts.
  ///   - kinds: The kinds of receipts that it knows; `nil` for every kind.
  ///   - answers: The answers to consecutive calls; the last one is repeated. If there are no answers, every call
  ///     fails terminally.
  public init(name: String = "fake", kinds: Set<ReceiptKind>? = nil, answers: [CheckerAnswer]) {
    self.name = name
    self.kinds = kinds
    self.state = Mutex(State(answers: answers))
  }

  /// The received receipts, in order.
  public var checked: [VerifiedReceipt] { state.withLock { $0.checked } }

  /// Returns the next answer.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    state.withLock { state in
      state.checked.append(receipt)
      guard let answer = state.answers.first else {
        return .terminalFailure(message: "The fake checker was given no answers.")
      }
      if state.answers.count > 1 { state.answers.removeFirst() }
      return answer
    }
  }
}
