// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension Entitlement {
  /// The identifier of the first transaction in the series.
  package var originalTransactionId: String { id.originalTransactionId }
  /// The identifier of the latest purchase or renewal.
  package var transactionId: String? { transaction.transactionId }
  /// The product of the latest transaction; ``productId(at:)`` returns the product that the customer may use.
  public var productId: String? { transaction.productId }
  /// The time at which the subscription expires or renews; `nil` for purchases that do not expire.
  public var expiresDate: Timestamp? { transaction.expiresDate }
  /// The end of the grace period of the latest renewal, if that renewal could not be charged for.
  package var gracePeriodExpiresDate: Timestamp? {
    isBillingProblemCurrent ? renewalInfo?.gracePeriodExpiresDate : nil
  }
}
