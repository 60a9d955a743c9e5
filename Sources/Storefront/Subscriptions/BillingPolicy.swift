// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A renewal that is about to be charged for.
public struct BillingAttempt: Sendable, Hashable {
  /// Whose subscription it is.
  public let account: String
  /// The subscription, by its first transaction.
  public let originalTransactionIdentifier: String
  /// The product that it renews to.
  public let productIdentifier: String
  /// The price times 1000.
  public let price: Int64
  /// 0 for the renewal itself, then the attempts of billing retry.
  public let number: Int
  /// When.
  public let date: Timestamp
  /// A number of 0 up to, but not including, 1, which the seed decides.
  public let chance: Double
}

/// Whether renewals can be charged for.
public struct BillingPolicy: Sendable {
  /// Whether an attempt succeeds.
  public let accepts: @Sendable (BillingAttempt) -> Bool

  /// Creates a policy.
  ///
  /// - Parameter accepts: Whether an attempt succeeds. The same attempt must have the same answer.
  public init(accepts: @escaping @Sendable (BillingAttempt) -> Bool) { self.accepts = accepts }

  /// Every attempt succeeds.
  public static let always = BillingPolicy { _ in true }

  /// Some renewals fail, and some of the failed ones are recovered.
  ///
  /// - Parameters:
  ///   - failures: How many of the renewals fail, 0 to 1.
  ///   - recoveries: How many of the attempts of billing retry succeed, 0 to 1. There is one a day.
  /// - Returns: The policy.
  public static func random(failures: Double, recoveries: Double) -> BillingPolicy {
    BillingPolicy { $0.chance >= ($0.number == 0 ? failures : 1 - recoveries) }
  }
}
