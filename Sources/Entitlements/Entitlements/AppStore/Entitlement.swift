// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A customer's entitlement from one original transaction, created by an ``EntitlementLedger``.
///
/// It states the latest purchase or renewal, its refund and its revocation.
///
/// It has no state of its own, because a subscription expires without a notification. Get the state at an instant with
/// ``state(at:)`` or ``grantsAccess(at:)``.
public struct Entitlement: Sendable, Hashable, Identifiable {
  /// The identifier of an original transaction.
  ///
  /// Transaction identifiers are unique within an app and environment; Xcode begins each app's at 0.
  public struct ID: Sendable, Hashable {
    /// The environment: production, sandbox or a test environment.
    ///
    /// Never mix environments: purchases in the sandbox cost nothing.
    public let environment: ReceiptEnvironment.Category
    /// The app.
    public let bundleId: String
    /// The first transaction of a series of renewals or restores.
    public let originalTransactionId: String

    /// Creates an identifier.
    public init(
      environment: ReceiptEnvironment.Category, bundleId: String, originalTransactionId: String
    ) {
      self.environment = environment
      self.bundleId = bundleId
      self.originalTransactionId = originalTransactionId
    }
  }

  /// A refund that the customer requested.
  public struct Refund: Sendable, Hashable {
    /// The progress of the refund.
    public enum Progress: String, Sendable, Hashable, CaseIterable {
      /// `CONSUMPTION_REQUEST`: the customer requested it, and the App Store wants consumption data within 12 hours.
      case requested
      /// `REFUND_DECLINED`: the App Store declined it.
      case declined
      /// `REFUND`: the App Store granted it.
      case granted
      /// `REFUND_REVERSED`: the App Store granted it and reversed it; the customer has the purchase again.
      case reversed
    }

    /// The progress of the refund.
    public let progress: Progress
    /// The time at which the progress was signed.
    public let date: Timestamp?
    /// The customer's reason; only in a request.
    public let reason: ConsumptionRequestReason?
  }

  /// The revocation of a purchase.
  public struct Revocation: Sendable, Hashable {
    /// The instant from which the purchase is revoked.
    public let date: Timestamp
    /// The reason for the refund.
    public let reason: RevocationReason?
    /// The type of the revocation; absent from data signed before 2025.
    public let type: RevocationType?
    /// The refunded share, in thousandths of a percent; 100000 is a full refund.
    package let percentage: Int64?
    /// `true` if the family or an organization no longer shares the purchase with this customer; `false` for a refund.
    package let isSharingWithdrawn: Bool
  }

  /// A period of a subscription whose transaction is not known.
  package struct LaterPeriod: Sendable, Hashable {
    /// The product.
    package let productId: String?
    /// The time at which the period expires or renews.
    package let expiresDate: Timestamp
  }

  /// The identifier of the original transaction.
  public let id: ID
  /// The latest purchase or renewal, in its latest signed version.
  public let transaction: JWSTransaction
  /// The renewal information, in its latest signed version; only for subscriptions.
  public let renewalInfo: JWSRenewalInfo?
  /// The time at which the renewal information was signed.
  package let renewalInfoSignedDate: Timestamp?
  /// The status in the App Store's last answer or notification.
  ///
  /// For information only: ``state(at:)`` depends on the signed dates.
  package let reportedStatus: SubscriptionStatus?
  /// The refund of the latest purchase, if the customer requested one.
  public let refund: Refund?
  /// The revocation of the latest purchase; `nil` if it was not revoked, or if the revocation was reversed.
  public let revocation: Revocation?
}

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
