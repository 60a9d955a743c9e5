// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// An attempt to charge for a renewal.
public struct BillingAttempt: Sendable, Hashable {
  /// The account of the subscription.
  public let account: String
  /// The original transaction of the subscription.
  public let originalTransactionIdentifier: String
  /// The product that it renews to.
  public let productIdentifier: String
  /// The price in thousandths.
  public let price: Int64
  /// 0 for the renewal itself; then the number of the billing retry.
  public let number: Int
  /// When.
  public let date: Timestamp
  /// A random number from 0 up to, but not including, 1, derived from the seed.
  package let chance: Double
}

/// Decides whether charges for renewals succeed.
public struct BillingPolicy: Sendable {
  /// Indicates whether an attempt succeeds.
  public let accepts: @Sendable (BillingAttempt) -> Bool

  /// Creates a policy. The same attempt must have the same answer.
  public init(accepts: @escaping @Sendable (BillingAttempt) -> Bool) { self.accepts = accepts }

  /// Every attempt succeeds.
  public static let always = BillingPolicy { _ in true }

  /// A share of renewals fails, 0 to 1, and a share of the billing retries succeeds; there is one retry a day.
  public static func random(failures: Double, recoveries: Double) -> BillingPolicy {
    BillingPolicy { $0.chance >= ($0.number == 0 ? failures : 1 - recoveries) }
  }
}
