// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// Checks the offers of one subscription.
struct OfferChecker {
  let names: CatalogPaths.Names
  /// The JSON path of each offer.
  let paths: [String]

  private struct Identity: Hashable {
    let type: OfferType
    let identifier: String?
  }

  func check(_ offers: [SubscriptionOffer]) throws(CatalogError) {
    var identities: Set<Identity> = []
    var codes: Set<String> = []
    for (index, offer) in offers.enumerated() {
      let path = paths[index]
      guard OfferTypeName.name(of: offer.type) != nil else {
        throw CatalogError(
          .unknownType, at: "\(path).type", "There is no type of offer \(offer.type.rawValue).")
      }
      try checkIdentifier(of: offer, at: path)
      guard identities.insert(Identity(type: offer.type, identifier: offer.identifier)).inserted else {
        throw CatalogError(
          .duplicateOffer, at: path,
          offer.identifier.map { "There is another offer \"\($0)\" of this type." }
            ?? "There is another introductory offer; a subscription has one.")
      }
      try checkTerms(of: offer, at: path)
      for (number, code) in offer.codes.sorted().enumerated() {
        let path = "\(path).codes[\(number)]"
        guard offer.type == .offerCode else {
          throw CatalogError(.invalidValue, at: path, "Only offers by code have codes.")
        }
        try Storefront.checkIdentifier(code, "code", at: path)
        guard codes.insert(code).inserted else {
          throw CatalogError(
            .duplicateIdentifier, at: path, "The code \"\(code)\" redeems another offer of the subscription.")
        }
      }
    }
  }

  private func checkIdentifier(of offer: SubscriptionOffer, at path: String) throws(CatalogError) {
    let path = "\(path).\(names.offerIdentifier)"
    if offer.type == .introductory {
      guard offer.identifier == nil else {
        throw CatalogError(.offerIdentifier, at: path, "An introductory offer has no identifier; remove it.")
      }
      return
    }
    guard let identifier = offer.identifier else {
      throw CatalogError(
        .offerIdentifier, at: path,
        "Every offer but an introductory one needs an identifier to ask for it by.")
    }
    try Storefront.checkIdentifier(identifier, "offer", at: path)
  }

  private func checkTerms(of offer: SubscriptionOffer, at path: String) throws(CatalogError) {
    let modes: [OfferDiscountType] = [.freeTrial, .payAsYouGo, .payUpFront]
    guard modes.contains(offer.paymentMode) else {
      throw CatalogError(
        .unknownType, at: "\(path).\(names.paymentMode)",
        "There is no payment mode \"\(offer.paymentMode.rawValue)\"; the modes are "
          + modes.map { "\"\($0.rawValue)\"" }.joined(separator: ", ") + ".")
    }
    guard 1...999 ~= offer.periodCount else {
      throw CatalogError(
        .invalidQuantity, at: "\(path).\(names.periodCount)",
        "An offer lasts for 1 to 999 periods, not \(offer.periodCount).")
    }
    let pricePath = "\(path).\(names.offerPrice)"
    try checkPrice(offer.price, at: pricePath)
    guard offer.paymentMode != .freeTrial || offer.price == 0 else {
      throw CatalogError(
        .invalidPrice, at: pricePath,
        "A free trial costs nothing; remove the price, or change the payment mode.")
    }
  }
}

/// The names of offer types in our own format.
enum OfferTypeName {
  private static let names: [(name: String, type: OfferType)] = [
    ("introductory", .introductory), ("promotional", .promotional), ("offerCode", .offerCode),
    ("winBack", .winBack),
  ]

  static func name(of type: OfferType) -> String? { names.first { $0.type == type }?.name }
  static func type(_ name: String) -> OfferType? { names.first { $0.name == name }?.type }
  static let all = names.map { "\"\($0.name)\"" }.joined(separator: ", ")
}
