// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What a customer may use by virtue of one original transaction: its latest purchase or renewal, and what has
/// become of it. Made by an ``EntitlementLedger``.
///
/// It holds no state of its own; ask for it at an instant, ``state(at:)`` or ``grantsAccess(at:)``: a
/// subscription expires without a notification.
public struct Entitlement: Sendable, Hashable, Identifiable {
  /// Which original transaction: identifiers are unique in one app and environment, and Xcode begins each
  /// app's at 0.
  public struct ID: Sendable, Hashable {
    /// Production, sandbox or a test environment. Never mix them: purchases in the sandbox cost nothing.
    public let environment: ReceiptEnvironment.Category
    /// The app.
    public let bundleId: String
    /// The first transaction of the line of renewals or restores.
    public let originalTransactionId: String

    /// Names an original transaction.
    public init(
      environment: ReceiptEnvironment.Category, bundleId: String, originalTransactionId: String
    ) {
      self.environment = environment
      self.bundleId = bundleId
      self.originalTransactionId = originalTransactionId
    }
  }

  /// The latest notification about an original transaction.
  public struct Notice: Sendable, Hashable {
    /// The event.
    public let type: NotificationType?
    /// More about the event.
    public let subtype: NotificationSubtype?
    /// Identifies the notification.
    public let uuid: UUIDString?
    /// When it was signed.
    public let signedDate: Timestamp?
  }

  /// A refund that the customer asked for.
  public struct Refund: Sendable, Hashable {
    /// How far it has come.
    public enum Progress: String, Sendable, Hashable, CaseIterable {
      /// `CONSUMPTION_REQUEST`: the customer asked, and the App Store wants consumption data within 12 hours.
      case requested
      /// `REFUND_DECLINED`.
      case declined
      /// `REFUND`.
      case granted
      /// `REFUND_REVERSED`: granted before, and undone; the customer has the purchase again.
      case reversed
    }

    /// How far it has come.
    public let progress: Progress
    /// When that was signed.
    public let date: Timestamp?
    /// Why the customer asked; in a request only.
    public let reason: ConsumptionRequestReason?
  }

  /// That a purchase was taken away.
  public struct Revocation: Sendable, Hashable {
    /// From when on.
    public let date: Timestamp
    /// Why it was refunded.
    public let reason: RevocationReason?
    /// What was revoked; absent from data of before 2025.
    public let type: RevocationType?
    /// How much was refunded, in thousandths of a per cent: 100000 for all.
    public let percentage: Int64?
    /// Whether it is no longer shared with this customer, by the family or an organization, rather than
    /// refunded.
    public let isSharingWithdrawn: Bool
  }

  /// A period of a subscription whose transaction is not known.
  public struct LaterPeriod: Sendable, Hashable {
    /// The product.
    public let productId: String?
    /// When it expires or renews.
    public let expiresDate: Timestamp
  }

  /// Which original transaction.
  public let id: ID
  /// The latest purchase or renewal, as the App Store signed it last.
  public let transaction: JWSTransaction
  /// What happens at the next renewal, as the App Store signed it last; subscriptions only.
  public let renewalInfo: JWSRenewalInfo?
  /// When that was signed.
  public let renewalInfoSignedDate: Timestamp?
  /// What the App Store called the state, the last time that it was asked or notified. For information:
  /// ``state(at:)`` rests on the signed dates.
  public let reportedStatus: SubscriptionStatus?
  /// The latest notification. History from the App Store Server API leaves it unchanged.
  public let latestNotice: Notice?
  /// The refund of the latest purchase, if the customer asked for one.
  public let refund: Refund?
  /// That the latest purchase was taken away, unless that was undone.
  public let revocation: Revocation?
}

extension Entitlement {
  /// The first transaction of the line.
  public var originalTransactionId: String { id.originalTransactionId }
  /// The latest purchase or renewal.
  package var transactionId: String? { transaction.transactionId }
  /// The product of the latest transaction; for what the customer may use, see ``productId(at:)``.
  public var productId: String? { transaction.productId }
  /// How many of a consumable were bought.
  package var quantity: Int64 { transaction.quantity ?? 1 }
  /// When the subscription expires or renews; `nil` for what does not expire.
  public var expiresDate: Timestamp? { transaction.expiresDate }
  /// Bought by this customer, or shared with them.
  package var ownership: InAppOwnershipType? { transaction.inAppOwnershipType }
  /// Whether a member of the family bought it.
  package var isFamilyShared: Bool { ownership == .familyShared }
  /// Whether it renews at the end of the period.
  public var autoRenewStatus: AutoRenewStatus? { renewalInfo?.autoRenewStatus }
  /// The product that renews: another one than ``productId`` after a downgrade.
  public var autoRenewProductId: String? { renewalInfo?.autoRenewProductId }
  /// Why the subscription expired.
  public var expirationIntent: ExpirationIntent? { renewalInfo?.expirationIntent }
  /// Whether the customer agreed to a higher price.
  public var priceIncreaseStatus: PriceIncreaseStatus? { renewalInfo?.priceIncreaseStatus }
  /// When the grace period of the latest renewal ends, if that renewal could not be charged for.
  package var gracePeriodExpiresDate: Timestamp? {
    isBillingProblemCurrent ? renewalInfo?.gracePeriodExpiresDate : nil
  }
  /// The kind of offer that applied to the latest purchase.
  package var offerType: OfferType? { transaction.offerType }
  /// The promotional offer or offer code of the latest purchase.
  package var offerIdentifier: String? { transaction.offerIdentifier }
  /// The product that replaced an upgraded one, where that is known.
  package var replacedByProductId: String? {
    guard transaction.isUpgraded == true else { return nil }
    return [renewalInfo?.productId, renewalInfo?.autoRenewProductId].compactMap(\.self)
      .first { $0 != transaction.productId }
  }
}
