// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Whether a purchase was delivered (`deliveryStatus`).
public struct DeliveryStatus: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `DELIVERED`: delivered, and it works.
  public static let delivered = DeliveryStatus(rawValue: "DELIVERED")
  /// `UNDELIVERED_QUALITY_ISSUE`: not delivered: a quality issue.
  public static let undeliveredQualityIssue = DeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
  /// `UNDELIVERED_WRONG_ITEM`: not delivered: the wrong item.
  public static let undeliveredWrongItem = DeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
  /// `UNDELIVERED_SERVER_OUTAGE`: not delivered: a server was down.
  public static let undeliveredServerOutage = DeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
  /// `UNDELIVERED_OTHER`: not delivered for some other reason.
  public static let undeliveredOther = DeliveryStatus(rawValue: "UNDELIVERED_OTHER")
}

extension DeliveryStatus: JSONEnumeration {}

/// What the developer would like to happen to a refund request (`refundPreference`).
public struct RefundPreference: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `DECLINE`: decline it.
  public static let decline = RefundPreference(rawValue: "DECLINE")
  /// `GRANT_FULL`: refund all.
  public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
  /// `GRANT_PRORATED`: refund the unused part.
  public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")
}

extension RefundPreference: JSONEnumeration {}

/// What the developer knows of a purchase whose refund was asked for (Apple's ConsumptionRequest), to be sent
/// within 12 hours of a `CONSUMPTION_REQUEST` notification.
public struct ConsumptionRequest: Sendable, Hashable {
  /// Whether the customer agreed to this being told; it must be `true` (`customerConsented`).
  public var customerConsented: Bool
  /// Whether it was delivered (`deliveryStatus`).
  public var deliveryStatus: DeliveryStatus
  /// Whether the customer could try before buying (`sampleContentProvided`).
  public var sampleContentProvided: Bool
  /// How much was used, in thousandths of a percent: 0 to 100000; 0 unless delivered; absent for auto-
  /// renewable subscriptions (`consumptionPercentage`).
  public var consumptionPercentage: Int64?
  /// What should happen (`refundPreference`).
  public var refundPreference: RefundPreference?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    customerConsented: Bool, deliveryStatus: DeliveryStatus, sampleContentProvided: Bool,
    consumptionPercentage: Int64? = nil, refundPreference: RefundPreference? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.customerConsented = customerConsented
    self.deliveryStatus = deliveryStatus
    self.sampleContentProvided = sampleContentProvided
    self.consumptionPercentage = consumptionPercentage
    self.refundPreference = refundPreference
    self.unknownFields = unknownFields
  }
}

extension ConsumptionRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case customerConsented, deliveryStatus, sampleContentProvided, consumptionPercentage, refundPreference
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [
    .customerConsented, .deliveryStatus, .sampleContentProvided,
  ])

  /// Filled before anyone sees it.
  package init() {
    self.init(
      customerConsented: false, deliveryStatus: DeliveryStatus(rawValue: ""), sampleContentProvided: false)
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .customerConsented: try coder.code(&customerConsented)
    case .deliveryStatus: try coder.code(&deliveryStatus)
    case .sampleContentProvided: try coder.code(&sampleContentProvided)
    case .consumptionPercentage: try coder.code(&consumptionPercentage)
    case .refundPreference: try coder.code(&refundPreference)
    }
  }
}
