// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A way in which a subscription is billed, in an Xcode `.storekit` file since version 5.
public struct StoreKitBillingPlan: Sendable, Hashable {
  /// Which plan it is.
  public var billingPlanType: String?
  /// The price of one billing period.
  public var displayPrice: String?
  /// The price of the whole commitment.
  public var commitmentDisplayPrice: String?
  /// Xcode's own identifier.
  public var internalID: String?
  /// Whether it is offered.
  public var isEnabled: Bool?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    billingPlanType: String? = nil, displayPrice: String? = nil, commitmentDisplayPrice: String? = nil,
    internalID: String? = nil, isEnabled: Bool? = nil, unknownFields: [JSONMember] = []
  ) {
    self.billingPlanType = billingPlanType
    self.displayPrice = displayPrice
    self.commitmentDisplayPrice = commitmentDisplayPrice
    self.internalID = internalID
    self.isEnabled = isEnabled
    self.unknownFields = unknownFields
  }
}

extension StoreKitBillingPlan: JSONObject {
  package enum Field: String, CaseIterable {
    case billingPlanType
    case displayPrice
    case commitmentDisplayPrice
    case internalID
    case isEnabled
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .billingPlanType: try coder.code(&billingPlanType)
    case .displayPrice: try coder.code(&displayPrice)
    case .commitmentDisplayPrice: try coder.code(&commitmentDisplayPrice)
    case .internalID: try coder.code(&internalID)
    case .isEnabled: try coder.code(&isEnabled)
    }
  }
}
