// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// Reads the offers of one subscription in an Xcode `.storekit` file.
struct StoreKitOfferReader {
  let subscription: StoreKitProduct
  let path: String

  /// An offer and its JSON path.
  struct Placed {
    let offer: SubscriptionOffer
    let path: String
  }

  private static let modes: [(name: String, mode: OfferDiscountType)] = [
    ("free", .freeTrial), ("payAsYouGo", .payAsYouGo), ("payUpFront", .payUpFront),
  ]

  func offers() throws(CatalogError) -> [Placed] {
    var offers: [Placed] = []
    try read(subscription.introductoryOffers, "introductoryOffers", .introductory, into: &offers)
    // Files since version 5 may have the same offer in both members.
    if (subscription.introductoryOffers ?? []).isEmpty, let offer = subscription.introductoryOffer {
      try read(offer, .introductory, at: "\(path).introductoryOffer", into: &offers)
    }
    try read(subscription.adHocOffers, "adHocOffers", .promotional, into: &offers)
    try read(subscription.codeOffers, "codeOffers", .offerCode, into: &offers)
    try read(subscription.winbackOffers, "winbackOffers", .winBack, into: &offers)
    return offers
  }

  private func read(
    _ list: [StoreKitOffer]?, _ name: String, _ type: OfferType, into offers: inout [Placed]
  ) throws(CatalogError) {
    for (index, offer) in (list ?? []).enumerated() {
      try read(offer, type, at: "\(path).\(name)[\(index)]", into: &offers)
    }
  }

  private func read(
    _ offer: StoreKitOffer, _ type: OfferType, at path: String, into offers: inout [Placed]
  ) throws(CatalogError) {
    guard let mode = Self.modes.first(where: { $0.name == offer.paymentMode })?.mode else {
      throw CatalogError(
        .unknownType, at: "\(path).paymentMode",
        "There is no payment mode \"\(offer.paymentMode)\"; the modes are "
          + Self.modes.map { "\"\($0.name)\"" }.joined(separator: ", ") + ".")
    }
    let period = try catalogPeriod(offer.subscriptionPeriod, at: "\(path).subscriptionPeriod")
    let price = try price(of: offer, mode, at: path)
    // A store here bills a whole period at once; the offer is only checked.
    if offer.billingPlanType?.lowercased() == BillingPlanType.monthly.rawValue.lowercased() { return }
    // Only offer codes may be identified by their reference name.
    let identifier =
      type == .introductory ? nil : offer.offerID ?? (type == .offerCode ? offer.referenceName : nil)
    var result = SubscriptionOffer(
      type: type, identifier: identifier, paymentMode: mode, period: period,
      periodCount: catalogCount(offer.numberOfPeriods ?? 1), price: price)
    if type == .offerCode, let identifier { result.codes = [identifier] }
    if let eligibility = offer.eligibility {
      result.eligibility = Set(eligibility.map(SubscriptionOffer.Eligibility.init))
    }
    offers.append(Placed(offer: result, path: path))
  }

  /// A free offer costs nothing: Xcode leaves old prices in the file.
  private func price(
    of offer: StoreKitOffer, _ mode: OfferDiscountType, at path: String
  ) throws(CatalogError) -> Decimal {
    let path = "\(path).displayPrice"
    guard let text = offer.displayPrice else {
      guard mode == .freeTrial else {
        throw CatalogError(.missing, at: path, "An offer that is not free needs a price.")
      }
      return 0
    }
    let price = try catalogPrice(text, at: path)
    return mode == .freeTrial ? 0 : price
  }
}
