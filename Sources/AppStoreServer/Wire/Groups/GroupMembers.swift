// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A member of a group.
public struct GroupMember: Sendable, Hashable {
  /// The member, by the app transaction (`appTransactionId`).
  public var appTransactionId: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    appTransactionId: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.appTransactionId = appTransactionId
    self.unknownFields = unknownFields
  }
}

extension GroupMember: JSONObject {
  package enum Field: String, CaseIterable {
    case appTransactionId
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .appTransactionId: try coder.code(&appTransactionId)
    }
  }
}

/// A page of the members of a group (sandbox only).
public struct GroupMembersResponse: Sendable, Hashable {
  /// The members (`members`).
  public var members: [GroupMember]?
  /// Whether there are more pages (`hasMore`).
  public var hasMore: Bool?
  /// Names the place where the next page begins (`paginationToken`).
  public var paginationToken: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    members: [GroupMember]? = nil, hasMore: Bool? = nil, paginationToken: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.members = members
    self.hasMore = hasMore
    self.paginationToken = paginationToken
    self.unknownFields = unknownFields
  }
}

extension GroupMembersResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case members, hasMore, paginationToken
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .members: try coder.code(&members)
    case .hasMore: try coder.code(&hasMore)
    case .paginationToken: try coder.code(&paginationToken)
    }
  }
}
