// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Stops a subscription from renewing (Apple's AdvancedCommerceSubscriptionCancelRequest).
public struct AdvancedCommerceSubscriptionCancelRequest: Sendable, Hashable {
  /// Identifies the request (`requestInfo`).
  public var requestInfo: AdvancedCommerceRequestInfo
  /// The storefront, three letters of ISO 3166-1 (`storefront`).
  public var storefront: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestInfo: AdvancedCommerceRequestInfo, storefront: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.requestInfo = requestInfo
    self.storefront = storefront
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceSubscriptionCancelRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestInfo, storefront
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.requestInfo])

  /// Filled before anyone sees it.
  package init() {
    self.init(requestInfo: AdvancedCommerceRequestInfo())
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestInfo: try coder.code(&requestInfo)
    case .storefront: try coder.code(&storefront)
    }
  }
}

/// Ends a subscription at once and refunds it (Apple's AdvancedCommerceSubscriptionRevokeRequest).
public struct AdvancedCommerceSubscriptionRevokeRequest: Sendable, Hashable {
  /// Identifies the request (`requestInfo`).
  public var requestInfo: AdvancedCommerceRequestInfo
  /// Why (`refundReason`).
  public var refundReason: AdvancedCommerceRefundReason
  /// How much (`refundType`).
  public var refundType: AdvancedCommerceRefundType
  /// Whether Apple shall weigh the risk of the refund (`refundRiskingPreference`).
  public var refundRiskingPreference: Bool
  /// The storefront, three letters of ISO 3166-1 (`storefront`).
  public var storefront: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestInfo: AdvancedCommerceRequestInfo, refundReason: AdvancedCommerceRefundReason,
    refundType: AdvancedCommerceRefundType, refundRiskingPreference: Bool, storefront: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.requestInfo = requestInfo
    self.refundReason = refundReason
    self.refundType = refundType
    self.refundRiskingPreference = refundRiskingPreference
    self.storefront = storefront
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceSubscriptionRevokeRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestInfo, refundReason, refundType, refundRiskingPreference, storefront
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [
    .requestInfo, .refundReason, .refundType, .refundRiskingPreference,
  ])

  /// Filled before anyone sees it.
  package init() {
    self.init(
      requestInfo: AdvancedCommerceRequestInfo(), refundReason: AdvancedCommerceRefundReason(rawValue: ""),
      refundType: AdvancedCommerceRefundType(rawValue: ""), refundRiskingPreference: false)
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestInfo: try coder.code(&requestInfo)
    case .refundReason: try coder.code(&refundReason)
    case .refundType: try coder.code(&refundType)
    case .refundRiskingPreference: try coder.code(&refundRiskingPreference)
    case .storefront: try coder.code(&storefront)
    }
  }
}
