// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification
internal import Synchronization

/// A checker that stops asking a source that keeps failing.
///
/// After several failures in a row the circuit opens: for a while the source is not asked, and every check fails at
/// once as unreachable. Then a few probes are let through. The first probe that gets an answer closes the circuit; a
/// probe that fails opens it again.
public final class CircuitBreaker: RemoteChecker {
  private struct Circuit {
    var failuresInRow = 0
    var openedAt: Duration?
    var probes = 0
    /// Counts openings and closings, so that an answer to a check that began before the last change is ignored.
    var generation = 0
  }

  package let checker: any RemoteChecker
  /// The number of failures in a row that open the circuit.
  package let failureThreshold: Int
  /// The time that the circuit stays open before probes are let through.
  package let openDuration: Duration
  /// The number of checks that may ask the source at a time while the circuit is half open.
  package let maximumProbes: Int
  private let time: RemoteTime
  private let circuit = Mutex(Circuit())

  /// The name of the wrapped checker.
  public var name: String { checker.name }
  /// The kinds that the wrapped checker knows.
  public var kinds: Set<ReceiptKind>? { checker.kinds }

  /// Creates a closed circuit breaker.
  ///
  /// - Parameters:
  ///   - checker: The checker that asks the source.
  ///   - failureThreshold: The number of failures in a row that open the circuit; 5 by default.
  ///   - openDuration: The time that the circuit stays open; 30 seconds by default.
  ///   - maximumProbes: The number of checks that may ask at a time while the circuit is half open; 1 by default.
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

  package var state: State {
    let now = time.elapsed()
    return circuit.withLock { circuit in
      guard let openedAt = circuit.openedAt else { return .closed }
      return now - openedAt < openDuration ? .open : .halfOpen
    }
  }

  /// Asks the checker, or fails at once while the circuit is open.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer { await report(on: receipt).answer }

  /// Asks the checker, or fails at once while the circuit is open.
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
      // A cancelled check says nothing about the source.
      guard !wasCancelled else { return }
      circuit.failuresInRow += 1
      if question.isProbe || circuit.failuresInRow >= failureThreshold { change(&circuit, openedAt: now) }
    }
  }

  private func change(_ circuit: inout Circuit, openedAt: Duration?) {
    circuit = Circuit(openedAt: openedAt, generation: circuit.generation + 1)
  }

  /// Returns `false` only for a retryable failure: a source that refuses the credentials is up.
  private static func isAnswer(_ answer: CheckerAnswer) -> Bool {
    if case .retryableFailure = answer { false } else { true }
  }
}
