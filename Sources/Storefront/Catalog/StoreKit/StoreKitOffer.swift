// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// An offer of a subscription in an Xcode `.storekit` file: introductory, promotional (`adHocOffers`), by code or
/// win-back.
public struct StoreKitOffer: Sendable, Hashable {
  /// Xcode's own identifier.
  public var internalID: String?
  /// The identifier agreed upon with the store; of promotional and win-back offers.
  public var offerID: String?
  /// The name that developers see, by which offer codes are known where they have no ``offerID``.
  public var referenceName: String?
  /// `free`, `payAsYouGo` or `payUpFront`.
  public var paymentMode: String
  /// How long each of its periods is, such as `P1W`.
  public var subscriptionPeriod: String
  /// How many of them there are; 1 in old files, which do not say.
  public var numberOfPeriods: Int64?
  /// The price; often absent from a free one.
  public var displayPrice: String?
  /// Which of the billing plans it is for; since version 5.
  public var billingPlanType: String?
  /// Who may redeem a code: `new`, `existing`, `expired`.
  public var eligibility: [String]?
  /// Whether a code can be combined with an introductory offer.
  public var isStackable: Bool?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    internalID: String? = nil, offerID: String? = nil, referenceName: String? = nil, paymentMode: String,
    subscriptionPeriod: String, numberOfPeriods: Int64? = nil, displayPrice: String? = nil,
    billingPlanType: String? = nil, eligibility: [String]? = nil, isStackable: Bool? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.internalID = internalID
    self.offerID = offerID
    self.referenceName = referenceName
    self.paymentMode = paymentMode
    self.subscriptionPeriod = subscriptionPeriod
    self.numberOfPeriods = numberOfPeriods
    self.displayPrice = displayPrice
    self.billingPlanType = billingPlanType
    self.eligibility = eligibility
    self.isStackable = isStackable
    self.unknownFields = unknownFields
  }
}

extension StoreKitOffer: JSONObject {
  package enum Field: String, CaseIterable {
    case internalID
    case offerID
    case referenceName
    case paymentMode
    case subscriptionPeriod
    case numberOfPeriods
    case displayPrice
    case billingPlanType
    case eligibility
    case isStackable
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.paymentMode, .subscriptionPeriod])

  package init() { self.init(paymentMode: "", subscriptionPeriod: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .internalID: try coder.code(&internalID)
    case .offerID: try coder.code(&offerID)
    case .referenceName: try coder.code(&referenceName)
    case .paymentMode: try coder.code(&paymentMode)
    case .subscriptionPeriod: try coder.code(&subscriptionPeriod)
    case .numberOfPeriods: try coder.code(&numberOfPeriods)
    case .displayPrice: try coder.code(&displayPrice)
    case .billingPlanType: try coder.code(&billingPlanType)
    case .eligibility: try coder.code(&eligibility)
    case .isStackable: try coder.code(&isStackable)
    }
  }
}
