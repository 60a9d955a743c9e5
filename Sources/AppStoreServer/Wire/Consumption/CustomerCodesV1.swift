// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// What a customer paid, or got back, in all (`lifetimeDollarsPurchased`, `lifetimeDollarsRefunded`).
public struct LifetimeDollars: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = LifetimeDollars(rawValue: 0)
  /// `1`: nothing.
  public static let zero = LifetimeDollars(rawValue: 1)
  /// `2`: 0.01 to 49.99 US dollars.
  public static let upTo49 = LifetimeDollars(rawValue: 2)
  /// `3`: 50 to 99.99.
  public static let upTo99 = LifetimeDollars(rawValue: 3)
  /// `4`: 100 to 499.99.
  public static let upTo499 = LifetimeDollars(rawValue: 4)
  /// `5`: 500 to 999.99.
  public static let upTo999 = LifetimeDollars(rawValue: 5)
  /// `6`: 1000 to 1999.99.
  public static let upTo1999 = LifetimeDollars(rawValue: 6)
  /// `7`: 2000 and more.
  public static let over2000 = LifetimeDollars(rawValue: 7)
}

extension LifetimeDollars: JSONEnumeration {}

/// The state of the customer's account (`userStatus`).
public struct UserStatus: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = UserStatus(rawValue: 0)
  /// `1`: active.
  public static let active = UserStatus(rawValue: 1)
  /// `2`: suspended.
  public static let suspended = UserStatus(rawValue: 2)
  /// `3`: terminated.
  public static let terminated = UserStatus(rawValue: 3)
  /// `4`: limited.
  public static let limitedAccess = UserStatus(rawValue: 4)
}

extension UserStatus: JSONEnumeration {}

/// What the developer would like to happen to a refund request (`refundPreference`, version 1).
public struct RefundPreferenceV1: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = RefundPreferenceV1(rawValue: 0)
  /// `1`: refund it.
  public static let preferGrant = RefundPreferenceV1(rawValue: 1)
  /// `2`: decline it.
  public static let preferDecline = RefundPreferenceV1(rawValue: 2)
  /// `3`: either.
  public static let noPreference = RefundPreferenceV1(rawValue: 3)
}

extension RefundPreferenceV1: JSONEnumeration {}
