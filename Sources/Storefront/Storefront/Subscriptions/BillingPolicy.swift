// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// An attempt to charge for a renewal.
package struct BillingAttempt: Sendable, Hashable {
  /// The account of the subscription.
  package let account: String
  /// The original transaction of the subscription.
  package let originalTransactionIdentifier: String
  /// The product of the renewed period.
  package let productIdentifier: String
  /// The price in thousandths.
  package let price: Int64
  /// The number of the attempt: 0 for the renewal itself, then the number of the billing retry.
  package let number: Int
  /// The date of the attempt.
  package let date: Timestamp
  /// A random number from 0 up to, but not including, 1, derived from the seed.
  package let chance: Double
}

/// Decides whether charges for renewals succeed.
public struct BillingPolicy: Sendable {
  /// Returns `true` if an attempt succeeds.
  package let accepts: @Sendable (BillingAttempt) -> Bool

  /// Creates a policy. It must give the same answer for the same attempt.
  package init(accepts: @escaping @Sendable (BillingAttempt) -> Bool) { self.accepts = accepts }

  /// Every attempt succeeds.
  public static let always = BillingPolicy { _ in true }

  /// Makes a share of renewals fail, and a share of the billing retries succeed; both are 0 to 1. There is one retry a
  /// day.
  public static func random(failures: Double, recoveries: Double) -> BillingPolicy {
    BillingPolicy { $0.chance >= ($0.number == 0 ? failures : 1 - recoveries) }
  }
}
