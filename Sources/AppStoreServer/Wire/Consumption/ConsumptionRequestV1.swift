// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What the developer knows of a consumable whose refund was asked for (Apple's ConsumptionRequestV1,
/// deprecated in favour of ``ConsumptionRequest``).
public struct ConsumptionRequestV1: Sendable, Hashable {
  /// Whether the customer agreed to this being told; it must be `true` (`customerConsented`).
  public var customerConsented: Bool?
  /// How much was used (`consumptionStatus`).
  public var consumptionStatus: ConsumptionStatus?
  /// Where it was used (`platform`).
  public var platform: ConsumptionPlatform?
  /// Whether the customer could try before buying (`sampleContentProvided`).
  public var sampleContentProvided: Bool?
  /// Whether it was delivered (`deliveryStatus`).
  public var deliveryStatus: DeliveryStatusV1?
  /// The app's own identifier of the account, a UUID, or empty (`appAccountToken`).
  public var appAccountToken: UUIDString?
  /// Age of the account (`accountTenure`).
  public var accountTenure: AccountTenure?
  /// How long the app was used (`playTime`).
  public var playTime: PlayTime?
  /// What the customer got back in all (`lifetimeDollarsRefunded`).
  public var lifetimeDollarsRefunded: LifetimeDollars?
  /// What the customer paid in all (`lifetimeDollarsPurchased`).
  public var lifetimeDollarsPurchased: LifetimeDollars?
  /// The state of the account (`userStatus`).
  public var userStatus: UserStatus?
  /// What should happen (`refundPreference`).
  public var refundPreference: RefundPreferenceV1?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    customerConsented: Bool? = nil, consumptionStatus: ConsumptionStatus? = nil,
    platform: ConsumptionPlatform? = nil, sampleContentProvided: Bool? = nil,
    deliveryStatus: DeliveryStatusV1? = nil, appAccountToken: UUIDString? = nil,
    accountTenure: AccountTenure? = nil, playTime: PlayTime? = nil,
    lifetimeDollarsRefunded: LifetimeDollars? = nil, lifetimeDollarsPurchased: LifetimeDollars? = nil,
    userStatus: UserStatus? = nil, refundPreference: RefundPreferenceV1? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.customerConsented = customerConsented
    self.consumptionStatus = consumptionStatus
    self.platform = platform
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    self.appAccountToken = appAccountToken
    self.accountTenure = accountTenure
    self.playTime = playTime
    self.lifetimeDollarsRefunded = lifetimeDollarsRefunded
    self.lifetimeDollarsPurchased = lifetimeDollarsPurchased
    self.userStatus = userStatus
    self.refundPreference = refundPreference
    self.unknownFields = unknownFields
  }
}

extension ConsumptionRequestV1: JSONObject {
  package enum Field: String, CaseIterable {
    case customerConsented, consumptionStatus, platform, sampleContentProvided, deliveryStatus,
      appAccountToken, accountTenure, playTime, lifetimeDollarsRefunded, lifetimeDollarsPurchased, userStatus,
      refundPreference
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .customerConsented: try coder.code(&customerConsented)
    case .consumptionStatus: try coder.code(&consumptionStatus)
    case .platform: try coder.code(&platform)
    case .sampleContentProvided: try coder.code(&sampleContentProvided)
    case .deliveryStatus: try coder.code(&deliveryStatus)
    case .appAccountToken: try coder.code(&appAccountToken)
    case .accountTenure: try coder.code(&accountTenure)
    case .playTime: try coder.code(&playTime)
    case .lifetimeDollarsRefunded: try coder.code(&lifetimeDollarsRefunded)
    case .lifetimeDollarsPurchased: try coder.code(&lifetimeDollarsPurchased)
    case .userStatus: try coder.code(&userStatus)
    case .refundPreference: try coder.code(&refundPreference)
    }
  }
}
