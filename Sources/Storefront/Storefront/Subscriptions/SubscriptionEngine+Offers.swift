// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptCrypto

extension SubscriptionEngine {
  /// The validity of a promotional offer's signature, in days.
  static let signatureDays: Double = 1
  /// The tolerated clock skew of a promotional offer's signing date, in milliseconds.
  static let signatureSkew: Double = 5 * 60 * 1000

  /// The offer that a payment redeems. If the payment names no offer, this is the introductory offer if the customer
  /// is eligible, otherwise `nil`. If the customer is not eligible for the named offer, this throws.
  func redeem(
    _ offer: PaymentOffer?, of product: CatalogProduct, _ terms: SubscriptionTerms, price: Int64,
    by current: Subscription?, applicationUsername: String?
  ) throws(StoreError) -> Redemption? {
    let found: SubscriptionOffer
    var token: String?
    switch offer {
    case nil:
      // An introductory offer is applied without a request, if the customer is eligible.
      guard current?.isCurrent(at: now) != true, current?.hasHadIntroductoryOffer != true else { return nil }
      return terms.offers.first { $0.type == .introductory }
        .flatMap { Subscription.RenewalOffer($0, of: product.productIdentifier) }
        .map { Redemption(offer: $0) }
    case .promotional(let redemption):
      found = try promotional(redemption, of: product, terms, applicationUsername: applicationUsername)
      guard current != nil else {
        throw StoreError(.ineligibleForOffer, "Promotional offers are for current and former subscribers.")
      }
    case .code(let code):
      found = try terms.offer(.offerCode, else: "This code redeems no offer of the product.") {
        $0.codes.contains(code)
      }
      token = "code:" + code
      let kind: OfferEligibility = current.map { $0.isCurrent(at: now) ? .existing : .expired } ?? .new
      guard found.eligibility.contains(kind), current?.redeemedOffers.contains("code:" + code) != true else {
        throw StoreError(.ineligibleForOffer, "The code was redeemed already, or is not for this customer.")
      }
    case .winBack(let identifier):
      found = try terms.offer(.winBack, else: "The product has no such win-back offer.") {
        $0.identifier == identifier
      }
      token = "win-back:" + identifier
      guard let current, winBackOffers(for: current).contains(identifier), !current.isCurrent(at: now) else {
        throw StoreError(.ineligibleForOffer, "Win-back offers are for former subscribers who paid.")
      }
    }
    guard let redeemed = Subscription.RenewalOffer(found, of: product.productIdentifier) else {
      throw StoreError(.invalidOfferPrice, "The offer's price or length cannot be stated.")
    }
    guard found.paymentMode != .payAsYouGo || redeemed.price <= price else {
      throw StoreError(.invalidOfferPrice, "The offer costs more than the product.")
    }
    return Redemption(offer: redeemed, token: token)
  }

  private func promotional(
    _ redemption: PromotionalOfferRedemption, of product: CatalogProduct, _ terms: SubscriptionTerms,
    applicationUsername: String?
  ) throws(StoreError) -> SubscriptionOffer {
    let offer = try terms.offer(.promotional, else: "The product has no such promotional offer.") {
      $0.identifier == redemption.identifier
    }
    guard let nonce = redemption.canonicalNonce,
      !redemption.signature.isEmpty, !redemption.keyIdentifier.isEmpty
    else { throw StoreError(.missingOfferParameters, "Nonce, key identifier or signature is missing.") }
    let fields = [
      options.bundleIdentifier, redemption.keyIdentifier, product.productIdentifier, redemption.identifier,
      (applicationUsername ?? "").lowercased(), nonce, String(redemption.timestamp),
    ]
    // A separator within a field would make the signed text ambiguous.
    guard let key = options.offerKeys[redemption.keyIdentifier],
      !fields.contains(where: { $0.unicodeScalars.contains("\u{2063}") }),
      (try? key.isValidSignature(
        redemption.signature, for: Array(fields.joined(separator: "\u{2063}").utf8), using: .ecdsa(.sha256)))
        == true
    else {
      throw StoreError(.invalidSignature, "The signature of the offer is wrong, or its key is unknown.")
    }
    let age = now.millisecondsSince1970 - Double(redemption.timestamp)
    guard age <= Self.signatureDays * 86_400_000, age >= -Self.signatureSkew else {
      throw StoreError(.invalidSignature, "The offer was not signed within 24 hours. Sign it anew.")
    }
    guard nonces[nonce].map({ $0 < now }) ?? true else {
      throw StoreError(.invalidSignature, "The nonce was used already. Sign the offer anew.")
    }
    return offer
  }

  /// Marks a nonce as used. It can be forgotten after the signature has expired.
  mutating func recordNonce(of offer: PaymentOffer?) {
    guard case .promotional(let redemption) = offer,
      let nonce = redemption.canonicalNonce
    else { return }
    nonces[nonce] = Timestamp(
      millisecondsSince1970: Double(redemption.timestamp) + Self.signatureDays * 86_400_000)
    changedNonces.insert(nonce)
    for (nonce, expires) in nonces where expires < now {
      nonces[nonce] = nil
      changedNonces.insert(nonce)
    }
  }

  /// The win-back offers for a lapsed subscription, best first. Those of the product that it would renew to come
  /// first, then those of the other products of its group, from the highest level down. The offers of one product are
  /// in the catalogue's order.
  func winBackOffers(for subscription: Subscription) -> [String] {
    guard subscription.hasPaid else { return [] }
    let own = subscription.autoRenewProductIdentifier
    let others = products.values.filter { other in
      other.subscription?.groupIdentifier == subscription.groupIdentifier && other.productIdentifier != own
        && product(other.productIdentifier)?.isForSale == true
    }
    let sorted = others.sorted {
      ($0.subscription?.level ?? 0, $0.productIdentifier) < (
        $1.subscription?.level ?? 0, $1.productIdentifier
      )
    }
    var found: [String] = []
    for product in [products[own]].compactMap(\.self) + sorted {
      for offer in product.subscription?.offers ?? [] where offer.type == .winBack {
        guard let identifier = offer.identifier, !found.contains(identifier),
          !subscription.redeemedOffers.contains("win-back:" + identifier)
        else { continue }
        found.append(identifier)
      }
    }
    return found
  }
}

extension SubscriptionTerms {
  fileprivate func offer(
    _ type: OfferType, else message: String, where isMeant: (SubscriptionOffer) -> Bool
  ) throws(StoreError) -> SubscriptionOffer {
    if let offer = offers.first(where: { $0.type == type && isMeant($0) }) { return offer }
    throw StoreError(.invalidOfferIdentifier, message)
  }
}

extension PromotionalOfferRedemption {
  /// The nonce in its canonical spelling; `nil` if it is no UUID.
  fileprivate var canonicalNonce: String? { UUIDString(rawValue: nonce).canonical?.rawValue }
}
