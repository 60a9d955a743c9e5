// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Whether an order identifier is one of the app's (`status`).
public struct OrderLookupStatus: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`: the identifier is valid.
  public static let valid = OrderLookupStatus(rawValue: 0)
  /// `1`: it is not, or it is of another app.
  public static let invalid = OrderLookupStatus(rawValue: 1)
}

extension OrderLookupStatus: JSONEnumeration {}

/// The transactions of an order (Apple's OrderLookupResponse).
public struct OrderLookupResponse: Sendable, Hashable {
  /// Whether the order identifier is valid (`status`).
  public var status: OrderLookupStatus?
  /// The transactions of a valid order, a JWS each (`signedTransactions`).
  public var signedTransactions: [String]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    status: OrderLookupStatus? = nil, signedTransactions: [String]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.status = status
    self.signedTransactions = signedTransactions
    self.unknownFields = unknownFields
  }
}

extension OrderLookupResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case status, signedTransactions
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .status: try coder.code(&status)
    case .signedTransactions: try coder.code(&signedTransactions)
    }
  }
}
