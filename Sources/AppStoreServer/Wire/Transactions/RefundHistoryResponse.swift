// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A page of a customer's refunded transactions (Apple's RefundHistoryResponse), in the order in which they
/// were refunded. Version 1 of the call has one page of at most 50, without `revision` and `hasMore`.
public struct RefundHistoryResponse: Sendable, Hashable {
  /// At most 20 transactions, a JWS each (`signedTransactions`).
  public var signedTransactions: [String]?
  /// Names the place where the next page begins; to be sent with the same filters (`revision`).
  public var revision: String?
  /// Whether there are more pages (`hasMore`).
  public var hasMore: Bool?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    signedTransactions: [String]? = nil, revision: String? = nil, hasMore: Bool? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.signedTransactions = signedTransactions
    self.revision = revision
    self.hasMore = hasMore
    self.unknownFields = unknownFields
  }
}

extension RefundHistoryResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case signedTransactions, revision, hasMore
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .signedTransactions: try coder.code(&signedTransactions)
    case .revision: try coder.code(&revision)
    case .hasMore: try coder.code(&hasMore)
    }
  }
}
