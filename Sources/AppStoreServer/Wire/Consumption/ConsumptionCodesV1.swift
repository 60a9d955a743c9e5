// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// How much of a purchase was used (`consumptionStatus`).
public struct ConsumptionStatus: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = ConsumptionStatus(rawValue: 0)
  /// `1`: nothing.
  public static let notConsumed = ConsumptionStatus(rawValue: 1)
  /// `2`: some.
  public static let partiallyConsumed = ConsumptionStatus(rawValue: 2)
  /// `3`: all.
  public static let fullyConsumed = ConsumptionStatus(rawValue: 3)
}

extension ConsumptionStatus: JSONEnumeration {}

/// Where a purchase was used (`platform`).
public struct ConsumptionPlatform: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = ConsumptionPlatform(rawValue: 0)
  /// `1`: on an Apple platform.
  public static let apple = ConsumptionPlatform(rawValue: 1)
  /// `2`: elsewhere.
  public static let nonApple = ConsumptionPlatform(rawValue: 2)
}

extension ConsumptionPlatform: JSONEnumeration {}

/// Whether a purchase was delivered (`deliveryStatus`, version 1).
public struct DeliveryStatusV1: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: delivered, and it works.
  public static let delivered = DeliveryStatusV1(rawValue: 0)
  /// `1`: not delivered: a quality issue.
  public static let qualityIssue = DeliveryStatusV1(rawValue: 1)
  /// `2`: the wrong item was delivered.
  public static let wrongItem = DeliveryStatusV1(rawValue: 2)
  /// `3`: not delivered: a server was down.
  public static let serverOutage = DeliveryStatusV1(rawValue: 3)
  /// `4`: not delivered: the game's currency changed.
  public static let currencyChange = DeliveryStatusV1(rawValue: 4)
  /// `5`: not delivered for some other reason.
  public static let other = DeliveryStatusV1(rawValue: 5)
}

extension DeliveryStatusV1: JSONEnumeration {}

/// Age of the customer's account (`accountTenure`).
public struct AccountTenure: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = AccountTenure(rawValue: 0)
  /// `1`: 0 to 3 days.
  public static let upToThreeDays = AccountTenure(rawValue: 1)
  /// `2`: 3 to 10 days.
  public static let upToTenDays = AccountTenure(rawValue: 2)
  /// `3`: 10 to 30 days.
  public static let upToThirtyDays = AccountTenure(rawValue: 3)
  /// `4`: 30 to 90 days.
  public static let upToNinetyDays = AccountTenure(rawValue: 4)
  /// `5`: 90 to 180 days.
  public static let upTo180Days = AccountTenure(rawValue: 5)
  /// `6`: 180 to 365 days.
  public static let upTo365Days = AccountTenure(rawValue: 6)
  /// `7`: more than 365 days.
  public static let over365Days = AccountTenure(rawValue: 7)
}

extension AccountTenure: JSONEnumeration {}

/// How long the customer used the app (`playTime`).
public struct PlayTime: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = PlayTime(rawValue: 0)
  /// `1`: 0 to 5 minutes.
  public static let upToFiveMinutes = PlayTime(rawValue: 1)
  /// `2`: 5 to 60 minutes.
  public static let upToOneHour = PlayTime(rawValue: 2)
  /// `3`: 1 to 6 hours.
  public static let upToSixHours = PlayTime(rawValue: 3)
  /// `4`: 6 to 24 hours.
  public static let upToOneDay = PlayTime(rawValue: 4)
  /// `5`: 1 to 4 days.
  public static let upToFourDays = PlayTime(rawValue: 5)
  /// `6`: 4 to 16 days.
  public static let upToSixteenDays = PlayTime(rawValue: 6)
  /// `7`: more than 16 days.
  public static let overSixteenDays = PlayTime(rawValue: 7)
}

extension PlayTime: JSONEnumeration {}
