// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// One transaction (Apple's TransactionInfoResponse).
public struct TransactionInfoResponse: Sendable, Hashable {
  /// A transaction, as a JWS (`signedTransactionInfo`).
  public var signedTransactionInfo: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    signedTransactionInfo: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.signedTransactionInfo = signedTransactionInfo
    self.unknownFields = unknownFields
  }
}

extension TransactionInfoResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case signedTransactionInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedTransactionInfo: try coder.code(&signedTransactionInfo)
    }
  }
}

/// The purchase or download of the app itself (Apple's AppTransactionInfoResponse).
public struct AppTransactionInfoResponse: Sendable, Hashable {
  /// An app transaction, as a JWS (`signedAppTransactionInfo`).
  public var signedAppTransactionInfo: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    signedAppTransactionInfo: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.signedAppTransactionInfo = signedAppTransactionInfo
    self.unknownFields = unknownFields
  }
}

extension AppTransactionInfoResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case signedAppTransactionInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedAppTransactionInfo: try coder.code(&signedAppTransactionInfo)
    }
  }
}
