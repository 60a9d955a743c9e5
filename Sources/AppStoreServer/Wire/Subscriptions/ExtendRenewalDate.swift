// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Why a renewal date is extended (`extendReasonCode`).
public struct ExtendReasonCode: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: not said.
  public static let undeclared = ExtendReasonCode(rawValue: 0)
  /// `1`: to satisfy the customer.
  public static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
  /// `2`: for some other reason.
  public static let other = ExtendReasonCode(rawValue: 2)
  /// `3`: service was interrupted.
  public static let serviceOutage = ExtendReasonCode(rawValue: 3)
}

extension ExtendReasonCode: JSONEnumeration {}

/// Extends the renewal date of one subscription (Apple's ExtendRenewalDateRequest).
public struct ExtendRenewalDateRequest: Sendable, Hashable {
  /// By how many days, 1 to 90 (`extendByDays`).
  public var extendByDays: Int64
  /// Why (`extendReasonCode`).
  public var extendReasonCode: ExtendReasonCode
  /// The caller's identifier of this extension, at most 128 characters (`requestIdentifier`).
  public var requestIdentifier: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    extendByDays: Int64, extendReasonCode: ExtendReasonCode, requestIdentifier: String,
    unknownFields: [JSONMember] = []
  ) {
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.requestIdentifier = requestIdentifier
    self.unknownFields = unknownFields
  }
}

extension ExtendRenewalDateRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case extendByDays, extendReasonCode, requestIdentifier
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(extendByDays: 0, extendReasonCode: ExtendReasonCode(rawValue: 0), requestIdentifier: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .extendByDays: try coder.code(&extendByDays)
    case .extendReasonCode: try coder.code(&extendReasonCode)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    }
  }
}

/// Whether a renewal date was extended (Apple's ExtendRenewalDateResponse).
public struct ExtendRenewalDateResponse: Sendable, Hashable {
  /// The subscription, by its first transaction (`originalTransactionId`).
  public var originalTransactionId: String?
  /// The purchase event that was extended (`webOrderLineItemId`).
  public var webOrderLineItemId: String?
  /// Whether it was extended (`success`).
  public var success: Bool?
  /// The new renewal date (`effectiveDate`).
  public var effectiveDate: Timestamp?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    originalTransactionId: String? = nil, webOrderLineItemId: String? = nil, success: Bool? = nil,
    effectiveDate: Timestamp? = nil, unknownFields: [JSONMember] = []
  ) {
    self.originalTransactionId = originalTransactionId
    self.webOrderLineItemId = webOrderLineItemId
    self.success = success
    self.effectiveDate = effectiveDate
    self.unknownFields = unknownFields
  }
}

extension ExtendRenewalDateResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case originalTransactionId, webOrderLineItemId, success, effectiveDate
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .originalTransactionId: try coder.code(&originalTransactionId)
    case .webOrderLineItemId: try coder.code(&webOrderLineItemId)
    case .success: try coder.code(&success)
    case .effectiveDate: try coder.code(&effectiveDate)
    }
  }
}
