// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Identifies an Advanced Commerce request (Apple's AdvancedCommerceRequestInfo).
public struct AdvancedCommerceRequestInfo: Sendable, Hashable {
  /// The caller's identifier of the request, a UUID (`requestReferenceId`).
  public var requestReferenceId: UUIDString
  /// The app's own identifier of the customer's account (`appAccountToken`).
  public var appAccountToken: UUIDString?
  /// The token of the last renewal info, by which Apple notices that the subscription changed meanwhile
  /// (`consistencyToken`).
  public var consistencyToken: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestReferenceId: UUIDString, appAccountToken: UUIDString? = nil, consistencyToken: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.requestReferenceId = requestReferenceId
    self.appAccountToken = appAccountToken
    self.consistencyToken = consistencyToken
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceRequestInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case requestReferenceId, appAccountToken, consistencyToken
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.requestReferenceId])

  /// Filled before anyone sees it.
  package init() {
    self.init(requestReferenceId: UUIDString(rawValue: ""))
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestReferenceId: try coder.code(&requestReferenceId)
    case .appAccountToken: try coder.code(&appAccountToken)
    case .consistencyToken: try coder.code(&consistencyToken)
    }
  }
}

/// The purchase after an Advanced Commerce call. The renewal information may be absent after a refund request
/// alone.
public struct AdvancedCommerceResponse: Sendable, Hashable {
  /// A transaction, as a JWS (`signedTransactionInfo`).
  public var signedTransactionInfo: String?
  /// Renewal information, as a JWS (`signedRenewalInfo`).
  public var signedRenewalInfo: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    signedTransactionInfo: String? = nil, signedRenewalInfo: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.signedTransactionInfo = signedTransactionInfo
    self.signedRenewalInfo = signedRenewalInfo
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case signedTransactionInfo, signedRenewalInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedTransactionInfo: try coder.code(&signedTransactionInfo)
    case .signedRenewalInfo: try coder.code(&signedRenewalInfo)
    }
  }
}
