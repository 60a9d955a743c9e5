// SPDX-License-Identifier: Apache-2.0

internal import Entitlements
internal import GooglePlay
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptVerification

struct PlayInquiry {
  private let client: GooglePlayClient
  private let requirements: PurchaseRequirements

  init(_ client: GooglePlayClient, _ requirements: PurchaseRequirements) {
    self.client = client
    self.requirements = requirements
  }

  var now: Timestamp { client.time.now() }

  func answer(_ claimed: GooglePlayPurchase) async -> CheckerAnswer {
    guard let token = claimed.purchaseToken, !token.isEmpty else {
      return .terminalFailure(message: "The purchase states no purchase token to ask about.")
    }
    do throws(GooglePlayError) {
      // The signed data of a subscription states whether it renews; a prepaid one may omit it.
      if claimed.autoRenewing == nil, let answer = try await product(claimed, token) { return answer }
      return answer(try await client.send(.subscription(token)), to: claimed)
    } catch {
      return Self.answer(error)
    }
  }

  /// Returns `nil` if Google Play knows no such one-time purchase.
  private func product(
    _ claimed: GooglePlayPurchase, _ token: String
  ) async throws(GooglePlayError) -> CheckerAnswer? {
    do throws(GooglePlayError) {
      return answer(try await client.send(.product(token)), to: claimed)
    } catch {
      guard error.code == .notFound || error.code == .invalidRequest else { throw error }
      return nil
    }
  }

  private static func answer(_ error: GooglePlayError) -> CheckerAnswer {
    switch error.code {
    case .notFound, .invalidRequest:
      return .refused("Google Play does not know the purchase (\(error.cause)).")
    case .tokenNoLongerValid:
      return .refused("The purchase token is no longer valid: it expired long ago.")
    default:
      return .failure(error.description, isRetryable: error.isRetryable || error.cause == .cancelled)
    }
  }

  // MARK: Decisions

  func answer(_ known: ProductPurchaseV2, to claimed: GooglePlayPurchase) -> CheckerAnswer {
    let isTest = known.testPurchaseContext != nil
    switch known.purchaseStateContext?.purchaseState {
    case .purchased: break
    case .cancelled: return response(.revoked(at: nil), isTest: isTest)
    case .pending: return refused("The purchase is not paid for yet.", isTest: isTest)
    case .unspecified, .unknown, nil:
      return Self.unknownState(known.purchaseStateContext?.purchaseState?.rawValue)
    }
    let refusal =
      otherOrder(claimed, than: [known.orderId])
      ?? otherProduct(claimed, than: (known.productLineItem ?? []).map(\.productId))
      ?? otherAccount(known.obfuscatedExternalAccountId)
    if let refusal { return refused(refusal, isTest: isTest) }
    let offers = (known.productLineItem ?? []).filter { isAbout(claimed, $0.productId) }
      .map(\.productOfferDetails)
    let bought = offers.reduce(0) { $0 + count($1?.quantity ?? 1) }
    let remaining = offers.reduce(0) { $0 + count(min($1?.refundableQuantity ?? .max, $1?.quantity ?? 1)) }
    if !offers.isEmpty, remaining == 0 { return response(.revoked(at: nil), isTest: isTest) }
    return response(
      .confirmed, isTest: isTest, purchases: standings(of: claimed) { $0.apply(known, to: $1, asOf: now) },
      note: remaining < bought
        ? "Google Play refunded \(bought - remaining) of \(bought); \(remaining) remain." : nil)
  }

  /// Clamps a quantity from Google, which need not be sensible.
  private func count(_ quantity: Int64) -> Int { Int(clamping: min(max(0, quantity), 1 << 32)) }

  func answer(_ known: SubscriptionPurchaseV2, to claimed: GooglePlayPurchase) -> CheckerAnswer {
    let isTest = known.testPurchase != nil
    let items = known.lineItems ?? []
    let products = items.map(\.productId) + items.map(\.itemReplacement?.productId)
    let refusal =
      otherOrder(claimed, than: items.map(\.latestSuccessfulOrderId) + [known.latestOrderId])
      ?? otherProduct(claimed, than: products)
      ?? otherAccount(
        known.externalAccountIdentifiers?.obfuscatedExternalAccountId
          // A subscription that was bought again in the Play app, not through the app, states the account here.
          ?? known.outOfAppPurchaseContext?.expiredExternalAccountIdentifiers?.obfuscatedExternalAccountId)
    if let refusal { return refused(refusal, isTest: isTest) }
    switch known.subscriptionState {
    case .pending, .pendingPurchaseCanceled:
      return refused("The purchase is not paid for.", isTest: isTest)
    case .active, .inGracePeriod, .canceled, .paused, .onHold, .expired:
      let purchases = standings(of: claimed) { $0.apply(known, to: $1, asOf: now) }
      let confirmed = response(.confirmed, isTest: isTest, purchases: purchases)
      guard requirements.requiresCurrentSubscription else { return confirmed }
      let isPaidFor = [.active, .inGracePeriod, .canceled].contains(known.subscriptionState)
      if isPaidFor, isCurrent(items, of: claimed) { return confirmed }
      let state = isPaidFor ? nil : known.subscriptionState?.meaning
      return refused(PurchaseRequirements.notActive(state ?? "expired"), isTest: isTest)
    case .unspecified, .unknown, nil: return Self.unknownState(known.subscriptionState?.rawValue)
    }
  }

  /// A terminal failure, because after a retryable one the offline rule would accept the signature alone.
  private static func unknownState(_ state: String?) -> CheckerAnswer {
    .terminalFailure(
      message:
        "Google Play names no state of the purchase that is known (\(ShownText.line(state ?? "none"))).")
  }

  private func response(
    _ standing: CheckerResponse.Standing, isTest: Bool, purchases: [CheckedStanding] = [], note: String? = nil
  ) -> CheckerAnswer {
    .response(
      CheckerResponse(
        standing, environment: isTest ? .sandbox : .production, purchases: purchases, note: note))
  }

  /// Returns the standings of the products of a purchase, as a ledger with Google Play's answer has them.
  private func standings(
    of claimed: GooglePlayPurchase, _ apply: (inout EntitlementLedger, PlayEntitlement.ID) -> Void
  ) -> [CheckedStanding] {
    guard let packageName = claimed.packageName, let token = claimed.purchaseToken,
      let id = PlayEntitlement.ID(packageName: packageName, purchaseToken: token)
    else { return [] }
    var ledger = EntitlementLedger()
    apply(&ledger, id)
    return ledger[id]?.checkedStandings(at: now, of: claimed.orderId, .store) ?? []
  }

  private func refused(_ message: String, isTest: Bool) -> CheckerAnswer {
    response(.refused(message: message), isTest: isTest)
  }

  /// Compares orders without the suffix (`..0`, `..1`) that each renewal of a subscription appends.
  private func otherOrder(_ claimed: GooglePlayPurchase, than known: [String?]) -> String? {
    func base(_ order: String) -> String {
      order.firstRange(of: "..").map { String(order[..<$0.lowerBound]) } ?? order
    }
    let known = known.compactMap(\.self).filter { !$0.isEmpty }
    guard let order = claimed.orderId, !order.isEmpty, !known.isEmpty else { return nil }
    return known.contains { UTF8Text.isIdentical(base($0), base(order)) }
      ? nil : "Google Play has another order for this purchase."
  }

  private func otherProduct(_ claimed: GooglePlayPurchase, than known: [String?]) -> String? {
    let known = known.compactMap(\.self)
    guard !known.isEmpty else { return "Google Play has no product for this purchase." }
    return claimed.products.allSatisfy { product in known.contains { UTF8Text.isIdentical($0, product) } }
      ? nil : "Google Play has another product for this purchase."
  }

  /// Returns `true` if a receipt is about a product; one that names no product is about the whole purchase.
  private func isAbout(_ claimed: GooglePlayPurchase, _ product: String?) -> Bool {
    claimed.products.isEmpty || claimed.products.contains { UTF8Text.isIdentical($0, product ?? "") }
  }

  /// Returns `true` if no product that a receipt is about has expired; another product of the purchase may run longer.
  private func isCurrent(_ items: [PlaySubscriptionLineItem], of claimed: GooglePlayPurchase) -> Bool {
    let current = items.filter { item in item.expiryTime.map { now < $0 } ?? false }
    guard !claimed.products.isEmpty else { return !current.isEmpty }
    return claimed.products.allSatisfy { product in
      current.contains { item in
        [item.productId, item.itemReplacement?.productId].compactMap(\.self)
          .contains { UTF8Text.isIdentical($0, product) }
      }
    }
  }

  private func otherAccount(_ account: String?) -> String? {
    requirements.refusal(appAccountToken: account.map { UUIDString(rawValue: $0) })
  }
}

extension GooglePlayPurchase {
  fileprivate var products: [String] { (productIds ?? []) + [productId].compactMap(\.self) }
}
