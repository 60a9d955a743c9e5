// SPDX-License-Identifier: Apache-2.0

/// What the Advanced Commerce API adds to renewal information.
public struct AdvancedCommerceRenewalInfo: Sendable, Hashable {
  /// Guards a later change request against acting on old data.
  public var consistencyToken: String?
  /// Name and description of the subscription.
  public var descriptors: AdvancedCommerceDescriptors?
  /// What renews.
  public var items: [AdvancedCommerceRenewalItem]?
  /// How often it renews.
  public var period: AdvancedCommercePeriod?
  /// The app's identifier of the request.
  public var requestReferenceId: String?
  /// Tax category.
  public var taxCode: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    consistencyToken: String? = nil, descriptors: AdvancedCommerceDescriptors? = nil,
    items: [AdvancedCommerceRenewalItem]? = nil, period: AdvancedCommercePeriod? = nil,
    requestReferenceId: String? = nil, taxCode: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.consistencyToken = consistencyToken
    self.descriptors = descriptors
    self.items = items
    self.period = period
    self.requestReferenceId = requestReferenceId
    self.taxCode = taxCode
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceRenewalInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case consistencyToken, descriptors, items, period, requestReferenceId, taxCode
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .consistencyToken: try coder.code(&consistencyToken)
    case .descriptors: try coder.code(&descriptors)
    case .items: try coder.code(&items)
    case .period: try coder.code(&period)
    case .requestReferenceId: try coder.code(&requestReferenceId)
    case .taxCode: try coder.code(&taxCode)
    }
  }
}
