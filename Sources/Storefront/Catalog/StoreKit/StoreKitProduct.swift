// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A product or subscription in an Xcode `.storekit` file.
struct StoreKitProduct: JSONObject, Sendable, Hashable {
  /// The string agreed upon with the store.
  var productID = ""
  /// `Consumable`, `NonConsumable`, `NonRenewingSubscription` or `RecurringSubscription`.
  var type = ""
  /// The name that developers see.
  var referenceName: String?
  /// Eight hexadecimal digits, or the App Store's identifier where the file is synchronised.
  var internalID: String?
  /// The price, a decimal number.
  var displayPrice = ""
  /// Whether the buyer's family may share it.
  var familyShareable: Bool?
  /// Titles and descriptions.
  var localizations: [StoreKitLocalization]?
  /// The group that a subscription is in.
  var subscriptionGroupID: String?
  /// A subscription's rank in its group; 1 is the highest.
  var groupNumber: Int64?
  /// How long a subscription is paid for at a time, `P1W` to `P1Y`.
  var recurringSubscriptionPeriod: String?
  /// The introductory offer of a subscription.
  var introductoryOffer: StoreKitOffer?
  /// The introductory offers by billing plan; since version 5, and then instead of ``introductoryOffer``.
  var introductoryOffers: [StoreKitOffer]?
  /// The promotional offers.
  var adHocOffers: [StoreKitOffer]?
  /// The offers by code.
  var codeOffers: [StoreKitOffer]?
  /// The win-back offers; since version 4.
  var winbackOffers: [StoreKitOffer]?
  /// How a subscription is billed; since version 5.
  var billingPlans: [StoreKitBillingPlan]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case productID, type, referenceName, internalID, displayPrice, familyShareable, localizations,
      subscriptionGroupID, groupNumber, recurringSubscriptionPeriod, introductoryOffer, introductoryOffers,
      adHocOffers, codeOffers, winbackOffers, billingPlans
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.productID, .type, .displayPrice])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .productID: try coder.code(&productID)
    case .type: try coder.code(&type)
    case .referenceName: try coder.code(&referenceName)
    case .internalID: try coder.code(&internalID)
    case .displayPrice: try coder.code(&displayPrice)
    case .familyShareable: try coder.code(&familyShareable)
    case .localizations: try coder.code(&localizations)
    case .subscriptionGroupID: try coder.code(&subscriptionGroupID)
    case .groupNumber: try coder.code(&groupNumber)
    case .recurringSubscriptionPeriod: try coder.code(&recurringSubscriptionPeriod)
    case .introductoryOffer: try coder.code(&introductoryOffer)
    case .introductoryOffers: try coder.code(&introductoryOffers)
    case .adHocOffers: try coder.code(&adHocOffers)
    case .codeOffers: try coder.code(&codeOffers)
    case .winbackOffers: try coder.code(&winbackOffers)
    case .billingPlans: try coder.code(&billingPlans)
    }
  }
}
