// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A product or subscription in an Xcode `.storekit` file.
public struct StoreKitProduct: Sendable, Hashable {
  /// The string agreed upon with the store.
  public var productID: String
  /// `Consumable`, `NonConsumable`, `NonRenewingSubscription` or `RecurringSubscription`.
  public var type: String
  /// The name that developers see.
  public var referenceName: String?
  /// Eight hexadecimal digits, or the App Store's identifier where the file is synchronised.
  public var internalID: String?
  /// The price, a decimal number.
  public var displayPrice: String
  /// Whether the buyer's family may share it.
  public var familyShareable: Bool?
  /// Titles and descriptions.
  public var localizations: [StoreKitLocalization]?
  /// The group that a subscription is in.
  public var subscriptionGroupID: String?
  /// A subscription's rank in its group; 1 is the highest.
  public var groupNumber: Int64?
  /// How long a subscription is paid for at a time, `P1W` to `P1Y`.
  public var recurringSubscriptionPeriod: String?
  /// The introductory offer of a subscription.
  public var introductoryOffer: StoreKitOffer?
  /// The introductory offers by billing plan; since version 5, and then instead of ``introductoryOffer``.
  public var introductoryOffers: [StoreKitOffer]?
  /// The promotional offers.
  public var adHocOffers: [StoreKitOffer]?
  /// The offers by code.
  public var codeOffers: [StoreKitOffer]?
  /// The win-back offers; since version 4.
  public var winbackOffers: [StoreKitOffer]?
  /// How a subscription is billed; since version 5.
  public var billingPlans: [StoreKitBillingPlan]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    productID: String, type: String, referenceName: String? = nil, internalID: String? = nil,
    displayPrice: String, familyShareable: Bool? = nil, localizations: [StoreKitLocalization]? = nil,
    subscriptionGroupID: String? = nil, groupNumber: Int64? = nil, recurringSubscriptionPeriod: String? = nil,
    introductoryOffer: StoreKitOffer? = nil, introductoryOffers: [StoreKitOffer]? = nil,
    adHocOffers: [StoreKitOffer]? = nil, codeOffers: [StoreKitOffer]? = nil,
    winbackOffers: [StoreKitOffer]? = nil, billingPlans: [StoreKitBillingPlan]? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.productID = productID
    self.type = type
    self.referenceName = referenceName
    self.internalID = internalID
    self.displayPrice = displayPrice
    self.familyShareable = familyShareable
    self.localizations = localizations
    self.subscriptionGroupID = subscriptionGroupID
    self.groupNumber = groupNumber
    self.recurringSubscriptionPeriod = recurringSubscriptionPeriod
    self.introductoryOffer = introductoryOffer
    self.introductoryOffers = introductoryOffers
    self.adHocOffers = adHocOffers
    self.codeOffers = codeOffers
    self.winbackOffers = winbackOffers
    self.billingPlans = billingPlans
    self.unknownFields = unknownFields
  }
}

extension StoreKitProduct: JSONObject {
  package enum Field: String, CaseIterable {
    case productID
    case type
    case referenceName
    case internalID
    case displayPrice
    case familyShareable
    case localizations
    case subscriptionGroupID
    case groupNumber
    case recurringSubscriptionPeriod
    case introductoryOffer
    case introductoryOffers
    case adHocOffers
    case codeOffers
    case winbackOffers
    case billingPlans
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.productID, .type, .displayPrice])

  package init() { self.init(productID: "", type: "", displayPrice: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
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
