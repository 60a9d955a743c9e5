// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Verification of many receipts at once: receipts of one signer share work, and all cores are used.
extension ReceiptVerifier {
  /// The number of signatures that share one modular inversion; a larger batch saves almost nothing more and delays its
  /// verdicts.
  static var batchSize: Int { 64 }

  /// Verifies receipts on the calling thread, the signatures of one signer together.
  ///
  /// - Parameter receipts: The receipts, each in any wrapping that ``verify(_:)-([UInt8])`` takes; all of them are
  ///   parsed before the first is verified.
  /// - Returns: The verdicts, in the order of the receipts.
  package func verifyTogether(_ receipts: ArraySlice<[UInt8]>) -> [Verdict] {
    verdicts(on: receipts.map { recognizer.recognize($0) })
  }

  /// Asks checkers about receipts that were verified locally: see ``verify(_:checkers:)``.
  ///
  /// - Parameters:
  ///   - checkers: The checkers.
  ///   - verdicts: The local verdicts.
  ///   - concurrently: `true` if the checkers wait for servers.
  /// - Returns: The verdicts, in the same order.
  package func consult(
    _ checkers: [any RemoteChecker], about verdicts: [Verdict], concurrently: Bool
  ) async -> [Verdict] {
    let consultation = RemoteConsultation(evaluator: evaluator, checkers: checkers, report: diagnostics)
    var verdicts = verdicts
    guard concurrently, verdicts.count > 1 else {
      for index in verdicts.indices { verdicts[index] = await consultation.verdict(on: verdicts[index]) }
      return verdicts
    }
    await withTaskGroup(of: (Int, Verdict).self) { group in
      for (index, verdict) in verdicts.enumerated() {
        group.addTask { (index, await consultation.verdict(on: verdict)) }
      }
      for await (index, verdict) in group { verdicts[index] = verdict }
    }
    return verdicts
  }

  /// Verifies receipts of any mix of kinds, on all cores. A bad receipt costs only itself.
  ///
  /// Apart from the verdicts, it holds at most a few dozen parsed receipts per core.
  ///
  /// - Parameter batch: The receipts, each in any wrapping that ``verify(_:)-([UInt8])`` takes.
  /// - Returns: The verdicts, in the order of the receipts.
  /// - Throws: `CancellationError` if the task is cancelled before all receipts are verified.
  public func verify(_ batch: [[UInt8]]) async throws -> [Verdict] {
    var verdicts = [Verdict](repeating: .missing, count: batch.count)
    try await withThrowingTaskGroup(of: (Int, [Verdict]).self) { group in
      var next = 0
      func startNext() {
        guard next < batch.count else { return }
        let run = next..<min(next + Self.batchSize, batch.count)
        next = run.upperBound
        group.addTask {
          try Task.checkCancellation()
          return (run.lowerBound, verifyTogether(batch[run]))
        }
      }
      for _ in 0..<AllProcessors.count { startNext() }
      while let (start, run) = try await group.next() {
        for (offset, verdict) in run.enumerated() { verdicts[start + offset] = verdict }
        startNext()
      }
    }
    return verdicts
  }

  /// Returns the verdicts on a sequence of receipts, in its order.
  ///
  /// ```swift
  /// for try await verdict in verifier.verdicts(on: lines, together: 64) { record(verdict) }
  /// ```
  ///
  /// - Parameters:
  ///   - receipts: The receipts, each in any wrapping that ``verify(_:)-([UInt8])`` takes.
  ///   - together: The number of receipts that are collected and verified together; 1 yields each verdict as soon as
  ///     its receipt arrives.
  /// - Returns: The verdicts. Iteration rethrows the errors of the receipts' sequence, after it has yielded the
  ///   verdicts on the receipts before the error.
  public func verdicts<Receipts: AsyncSequence>(
    on receipts: Receipts, together: Int = 64
  ) -> VerdictSequence<Receipts> where Receipts.Element == [UInt8] {
    VerdictSequence(verifier: self, receipts: receipts, together: max(1, together))
  }
}

/// The verdicts on a sequence of receipts: see ``ReceiptVerifier/verdicts(on:together:)``.
public struct VerdictSequence<Receipts: AsyncSequence>: AsyncSequence where Receipts.Element == [UInt8] {
  let verifier: ReceiptVerifier
  let receipts: Receipts
  let together: Int

  /// Starts the iteration.
  public func makeAsyncIterator() -> Iterator {
    Iterator(verifier: verifier, receipts: receipts.makeAsyncIterator(), together: together)
  }

  /// Iterates over verdicts.
  public struct Iterator: AsyncIteratorProtocol {
    let verifier: ReceiptVerifier
    var receipts: Receipts.AsyncIterator
    let together: Int
    private var verdicts: ArraySlice<Verdict> = []
    private var failure: Receipts.Failure?
    private var isAtEnd = false

    init(verifier: ReceiptVerifier, receipts: Receipts.AsyncIterator, together: Int) {
      self.verifier = verifier
      self.receipts = receipts
      self.together = together
    }

    /// Returns the next verdict, or `nil` after the last.
    public mutating func next() async throws -> Verdict? {
      try await next(isolation: nil)
    }

    /// Returns the next verdict, or `nil` after the last.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(Receipts.Failure)
      -> Verdict?
    {
      if verdicts.isEmpty, failure == nil, !isAtEnd {
        var batch: [[UInt8]] = []
        do throws(Receipts.Failure) {
          while batch.count < together {
            guard let receipt = try await receipts.next(isolation: actor) else {
              isAtEnd = true
              break
            }
            batch.append(receipt)
          }
        } catch {
          failure = error
        }
        verdicts = verifier.verifyTogether(batch[...])[...]
      }
      if let verdict = verdicts.popFirst() { return verdict }
      if let failure {
        self.failure = nil
        isAtEnd = true
        throw failure
      }
      return nil
    }
  }
}
