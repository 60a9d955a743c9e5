// SPDX-License-Identifier: Apache-2.0

public import ReceiptVerification

/// A checker that asks a closure, for a source of your own.
///
/// ```swift
/// let ledger = ClosureChecker(name: "ledger") { receipt in
///   for transaction in receipt.purchases {
///     guard let id = transaction.transactionId else { continue }
///     if try await database.isChargedBack(id) { return .response(CheckerResponse(.revoked(at: nil))) }
///   }
///   return .response(CheckerResponse(.confirmed))
/// }
/// ```
public struct ClosureChecker: RemoteChecker {
  /// The checker's name in verdicts and logs.
  public let name: String
  private let answer: @Sendable (VerifiedReceipt) async throws -> CheckerAnswer

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - name: A short name for verdicts and logs.
  ///   - answer: Asks the source. An error that it throws counts as unreachable. The verdict names only the error's
  ///     type, because the error may hold secrets.
  public init(name: String, _ answer: @escaping @Sendable (VerifiedReceipt) async throws -> CheckerAnswer) {
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
