// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A way in which a subscription is billed, in an Xcode `.storekit` file since version 5.
struct StoreKitBillingPlan: JSONObject, Sendable, Hashable {
  /// Which plan it is.
  var billingPlanType: String?
  /// The price of one billing period.
  var displayPrice: String?
  /// The price of the whole commitment.
  var commitmentDisplayPrice: String?
  /// Xcode's own identifier.
  var internalID: String?
  /// Whether it is offered.
  var isEnabled: Bool?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case billingPlanType, displayPrice, commitmentDisplayPrice, internalID, isEnabled
  }

  static let fieldNames = JSONFieldNames<Field>()

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .billingPlanType: try coder.code(&billingPlanType)
    case .displayPrice: try coder.code(&displayPrice)
    case .commitmentDisplayPrice: try coder.code(&commitmentDisplayPrice)
    case .internalID: try coder.code(&internalID)
    case .isEnabled: try coder.code(&isEnabled)
    }
  }
}
