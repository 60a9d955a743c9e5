// SPDX-License-Identifier: Apache-2.0

public import ReceiptVerification

/// A checker from a closure: anyone's own source of truth.
///
/// ```swift
/// let ledger = ClosureChecker(name: "ledger") { receipt in
///   for transaction in receipt.transactions {
///     guard let id = transaction.transactionId else { continue }
///     if try await database.isChargedBack(id) { return .response(CheckerResponse(.revoked(at: nil))) }
///   }
///   return .response(CheckerResponse(.confirmed))
/// }
/// ```
public struct ClosureChecker: RemoteChecker {
  /// Its name in verdicts and logs.
  public let name: String
  private let answer: @Sendable (VerifiedReceipt) async throws -> CheckerAnswer

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - name: A short name for verdicts and logs.
  ///   - answer: Asks the source. What it throws counts as unreachable, and is not quoted in the verdict beyond
  ///     its type: it may hold secrets.
  public init(
    name: String, _ answer: @escaping @Sendable (VerifiedReceipt) async throws -> CheckerAnswer
  ) {
    self.name = name
    self.answer = answer
  }

  /// Asks the closure.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    do {
      return try await answer(receipt)
    } catch {
      return .retryableFailure(message: "The source failed with \(type(of: error)).")
    }
  }
}
