// SPDX-License-Identifier: Apache-2.0

/// Why a subscription expired (`expirationIntent`).
public struct ExpirationIntent: RawRepresentable, Sendable, Hashable {
  /// The code in the payload.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `1`: the customer cancelled.
  public static let cancelled = ExpirationIntent(rawValue: 1)
  /// `2`: the charge failed.
  public static let billingError = ExpirationIntent(rawValue: 2)
  /// `3`: the customer did not agree to a higher price.
  public static let priceIncreaseRefused = ExpirationIntent(rawValue: 3)
  /// `4`: the product was not for sale.
  public static let productUnavailable = ExpirationIntent(rawValue: 4)
  /// `5`: some other reason.
  public static let other = ExpirationIntent(rawValue: 5)
}

extension ExpirationIntent: JSONEnumeration {}

/// Whether a subscription renews (`autoRenewStatus`).
public struct AutoRenewStatus: RawRepresentable, Sendable, Hashable {
  /// The code in the payload.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: it will not renew.
  public static let off = AutoRenewStatus(rawValue: 0)
  /// `1`: it renews at the end of the period.
  public static let on = AutoRenewStatus(rawValue: 1)
}

extension AutoRenewStatus: JSONEnumeration {}

/// Whether the customer agreed to a higher price (`priceIncreaseStatus`).
public struct PriceIncreaseStatus: RawRepresentable, Sendable, Hashable {
  /// The code in the payload.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: no answer yet.
  public static let noResponse = PriceIncreaseStatus(rawValue: 0)
  /// `1`: agreed, or informed of an increase that needs no consent.
  public static let consented = PriceIncreaseStatus(rawValue: 1)
}

extension PriceIncreaseStatus: JSONEnumeration {}

/// The state of a subscription (`status`).
public struct SubscriptionStatus: RawRepresentable, Sendable, Hashable {
  /// The code in the payload.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `1`: active.
  public static let active = SubscriptionStatus(rawValue: 1)
  /// `2`: expired.
  public static let expired = SubscriptionStatus(rawValue: 2)
  /// `3`: the App Store is trying to charge.
  public static let billingRetry = SubscriptionStatus(rawValue: 3)
  /// `4`: as billing retry, and service goes on.
  public static let gracePeriod = SubscriptionStatus(rawValue: 4)
  /// `5`: refunded, or no longer shared.
  public static let revoked = SubscriptionStatus(rawValue: 5)
}

extension SubscriptionStatus: JSONEnumeration {}
