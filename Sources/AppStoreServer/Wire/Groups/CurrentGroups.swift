// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What a customer is in a group for a product.
public struct GroupRole: Sendable, Hashable {
  /// The product (`productId`).
  public var productId: String?
  /// The role (`role`).
  public var role: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    productId: String? = nil, role: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.productId = productId
    self.role = role
    self.unknownFields = unknownFields
  }
}

extension GroupRole: JSONObject {
  package enum Field: String, CaseIterable {
    case productId, role
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .productId: try coder.code(&productId)
    case .role: try coder.code(&role)
    }
  }
}

/// A group that a customer belongs to.
public struct CustomerGroup: Sendable, Hashable {
  /// The group (`groupId`).
  public var groupId: String?
  /// What kind of group (`groupType`).
  public var groupType: String?
  /// What the customer is in it (`roles`).
  public var roles: [GroupRole]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    groupId: String? = nil, groupType: String? = nil, roles: [GroupRole]? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.groupId = groupId
    self.groupType = groupType
    self.roles = roles
    self.unknownFields = unknownFields
  }
}

extension CustomerGroup: JSONObject {
  package enum Field: String, CaseIterable {
    case groupId, groupType, roles
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .groupId: try coder.code(&groupId)
    case .groupType: try coder.code(&groupType)
    case .roles: try coder.code(&roles)
    }
  }
}

/// The groups that a customer belongs to (sandbox only).
public struct CurrentGroupsResponse: Sendable, Hashable {
  /// The groups (`groups`).
  public var groups: [CustomerGroup]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    groups: [CustomerGroup]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.groups = groups
    self.unknownFields = unknownFields
  }
}

extension CurrentGroupsResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case groups
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .groups: try coder.code(&groups)
    }
  }
}
