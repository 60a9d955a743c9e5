// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Extends the renewal dates of all eligible subscribers of a product (Apple's MassExtendRenewalDateRequest).
public struct MassExtendRenewalDateRequest: Sendable, Hashable {
  /// The caller's identifier of this extension, a UUID. The App Store acts once, however often it is sent
  /// (`requestIdentifier`).
  public var requestIdentifier: UUIDString
  /// By how many days, 1 to 90 (`extendByDays`).
  public var extendByDays: Int64
  /// Why (`extendReasonCode`).
  public var extendReasonCode: ExtendReasonCode
  /// The product (`productId`).
  public var productId: String
  /// The storefronts, three letters of ISO 3166-1 each; all where absent. Not empty
  /// (`storefrontCountryCodes`).
  public var storefrontCountryCodes: [String]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestIdentifier: UUIDString, extendByDays: Int64, extendReasonCode: ExtendReasonCode,
    productId: String, storefrontCountryCodes: [String]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.requestIdentifier = requestIdentifier
    self.extendByDays = extendByDays
    self.extendReasonCode = extendReasonCode
    self.productId = productId
    self.storefrontCountryCodes = storefrontCountryCodes
    self.unknownFields = unknownFields
  }
}

extension MassExtendRenewalDateRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestIdentifier, extendByDays, extendReasonCode, productId, storefrontCountryCodes
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [
    .requestIdentifier, .extendByDays, .extendReasonCode, .productId,
  ])

  /// Filled before anyone sees it.
  package init() {
    self.init(
      requestIdentifier: UUIDString(rawValue: ""), extendByDays: 0,
      extendReasonCode: ExtendReasonCode(rawValue: 0), productId: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .extendByDays: try coder.code(&extendByDays)
    case .extendReasonCode: try coder.code(&extendReasonCode)
    case .productId: try coder.code(&productId)
    case .storefrontCountryCodes: try coder.code(&storefrontCountryCodes)
    }
  }
}

/// That a mass extension was accepted (Apple's MassExtendRenewalDateResponse).
public struct MassExtendRenewalDateResponse: Sendable, Hashable {
  /// The request's identifier (`requestIdentifier`).
  public var requestIdentifier: UUIDString?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestIdentifier: UUIDString? = nil, unknownFields: [JSONMember] = []
  ) {
    self.requestIdentifier = requestIdentifier
    self.unknownFields = unknownFields
  }
}

extension MassExtendRenewalDateResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case requestIdentifier
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    }
  }
}

/// How far a mass extension has come (Apple's MassExtendRenewalDateStatusResponse).
public struct MassExtendRenewalDateStatusResponse: Sendable, Hashable {
  /// The request's identifier (`requestIdentifier`).
  public var requestIdentifier: UUIDString?
  /// Whether it is done (`complete`).
  public var complete: Bool?
  /// When it was done (`completeDate`).
  public var completeDate: Timestamp?
  /// How many subscriptions were extended (`succeededCount`).
  public var succeededCount: Int64?
  /// How many were not (`failedCount`).
  public var failedCount: Int64?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestIdentifier: UUIDString? = nil, complete: Bool? = nil, completeDate: Timestamp? = nil,
    succeededCount: Int64? = nil, failedCount: Int64? = nil, unknownFields: [JSONMember] = []
  ) {
    self.requestIdentifier = requestIdentifier
    self.complete = complete
    self.completeDate = completeDate
    self.succeededCount = succeededCount
    self.failedCount = failedCount
    self.unknownFields = unknownFields
  }
}

extension MassExtendRenewalDateStatusResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case requestIdentifier, complete, completeDate, succeededCount, failedCount
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .complete: try coder.code(&complete)
    case .completeDate: try coder.code(&completeDate)
    case .succeededCount: try coder.code(&succeededCount)
    case .failedCount: try coder.code(&failedCount)
    }
  }
}
