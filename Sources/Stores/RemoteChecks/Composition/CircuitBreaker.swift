// SPDX-License-Identifier: Apache-2.0

public import ReceiptVerification
internal import Synchronization

/// Spares a source that is down, and those who wait for it: after some failures in a row it is not asked for a
/// while, and the answer is at once that it is unreachable. Then a few probes are let through, and the first
/// that is answered closes the circuit again.
public final class CircuitBreaker: RemoteChecker {
  /// Whether questions get through.
  package enum State: String, Sendable, Hashable {
    /// All of them.
    case closed
    /// None.
    case open
    /// As many at a time as there may be probes.
    case halfOpen = "half-open"
  }

  private struct Circuit {
    var failuresInRow = 0
    var openedAt: Duration?
    var probes = 0
    /// Counts openings and closings, so that an answer to a question from before changes nothing.
    var generation = 0
  }

  /// The checker behind it.
  package let checker: any RemoteChecker
  /// Failures in a row that open the circuit.
  package let failureThreshold: Int
  /// How long it stays open.
  package let openDuration: Duration
  /// Questions that are let through at a time while it is half open.
  package let maximumProbes: Int
  private let time: RemoteTime
  private let circuit = Mutex(Circuit())

  /// The checker's own name.
  public var name: String { checker.name }

  /// Creates a circuit breaker, closed.
  ///
  /// - Parameters:
  ///   - checker: The checker behind it.
  ///   - failureThreshold: Failures in a row that open the circuit; 5 by default.
  ///   - openDuration: How long it stays open; 30 seconds by default.
  ///   - maximumProbes: Questions let through at a time while it is half open; 1 by default.
  ///   - time: The clock.
  public init(
    _ checker: any RemoteChecker, failureThreshold: Int = 5, openDuration: Duration = .seconds(30),
    maximumProbes: Int = 1, time: RemoteTime = .system
  ) {
    self.checker = checker
    self.failureThreshold = max(1, failureThreshold)
    self.openDuration = openDuration
    self.maximumProbes = max(1, maximumProbes)
    self.time = time
  }

  /// Whether questions get through now.
  package var state: State {
    let now = time.elapsed()
    return circuit.withLock { circuit in
      guard let openedAt = circuit.openedAt else { return .closed }
      return now - openedAt < openDuration ? .open : .halfOpen
    }
  }

  /// Asks the checker, or says at once that it is unreachable.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer { await report(on: receipt).answer }

  /// Asks the checker, or says at once that it is unreachable.
  public func report(on receipt: VerifiedReceipt) async -> CheckerReport {
    guard let question = admit() else {
      return CheckerReport(
        name: name,
        answer: .retryableFailure(
          message: "\(failureThreshold) or more failures in a row: not asked again for up to \(openDuration)."
        ),
        duration: .zero)
    }
    let report = await checker.report(on: receipt)
    record(question, answered: Self.isAnswer(report.answer), wasCancelled: Task.isCancelled)
    return report
  }

  private struct Question {
    let isProbe: Bool
    let generation: Int
  }

  private func admit() -> Question? {
    let now = time.elapsed()
    return circuit.withLock { circuit in
      guard let openedAt = circuit.openedAt else {
        return Question(isProbe: false, generation: circuit.generation)
      }
      guard now - openedAt >= openDuration, circuit.probes < maximumProbes else { return nil }
      circuit.probes += 1
      return Question(isProbe: true, generation: circuit.generation)
    }
  }

  private func record(_ question: Question, answered: Bool, wasCancelled: Bool) {
    let now = time.elapsed()
    circuit.withLock { circuit in
      guard question.generation == circuit.generation else { return }
      if question.isProbe { circuit.probes -= 1 }
      if answered {
        circuit.failuresInRow = 0
        if question.isProbe { change(&circuit, openedAt: nil) }
        return
      }
      // A cancelled check tells nothing about the source.
      guard !wasCancelled else { return }
      circuit.failuresInRow += 1
      if question.isProbe || circuit.failuresInRow >= failureThreshold { change(&circuit, openedAt: now) }
    }
  }

  private func change(_ circuit: inout Circuit, openedAt: Duration?) {
    circuit = Circuit(openedAt: openedAt, generation: circuit.generation + 1)
  }

  /// Credentials that are refused are an answer: the source is up.
  private static func isAnswer(_ answer: CheckerAnswer) -> Bool {
    if case .retryableFailure = answer { false } else { true }
  }
}
