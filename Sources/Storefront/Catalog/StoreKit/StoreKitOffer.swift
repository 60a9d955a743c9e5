// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// An offer of a subscription in an Xcode `.storekit` file: introductory, promotional (`adHocOffers`), by code or
/// win-back.
struct StoreKitOffer: JSONObject, Sendable, Hashable {
  /// Xcode's own identifier.
  var internalID: String?
  /// The identifier agreed upon with the store; of promotional and win-back offers.
  var offerID: String?
  /// The name that developers see, by which offer codes are known where they have no ``offerID``.
  var referenceName: String?
  /// `free`, `payAsYouGo` or `payUpFront`.
  var paymentMode = ""
  /// How long each of its periods is, such as `P1W`.
  var subscriptionPeriod = ""
  /// How many of them there are; 1 in old files, which do not say.
  var numberOfPeriods: Int64?
  /// The price; often absent from a free one.
  var displayPrice: String?
  /// Which of the billing plans it is for; since version 5.
  var billingPlanType: String?
  /// Who may redeem a code: `new`, `existing`, `expired`.
  var eligibility: [String]?
  /// Whether a code can be combined with an introductory offer.
  var isStackable: Bool?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case internalID, offerID, referenceName, paymentMode, subscriptionPeriod, numberOfPeriods, displayPrice,
      billingPlanType, eligibility, isStackable
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.paymentMode, .subscriptionPeriod])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
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
