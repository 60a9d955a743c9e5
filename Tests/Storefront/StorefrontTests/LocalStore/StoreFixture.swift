// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptCrypto
import Entitlements
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Storefront

/// A store for tests, with its catalogue, its clock, and a verifier that trusts its root.
struct StoreFixture {
  static let start = Timestamp(secondsSince1970: 1_735_689_600)  // 2025-01-01T00:00:00Z
  static let bundle = "com.example.app"

  let clock = FixedClock(Self.start)
  let storage: MemoryRecordStorage
  var options = Self.options()

  init(storage: MemoryRecordStorage = MemoryRecordStorage()) { self.storage = storage }

  static func options() -> LocalStore.Options {
    LocalStore.Options(
      engine: SubscriptionEngine.Options(bundleIdentifier: bundle, seed: 7, gracePeriodDays: 16))
  }

  func store() throws -> LocalStore { try store(on: storage) }

  func store(on storage: any RecordStorage) throws -> LocalStore {
    try LocalStore(
      catalog: Self.catalog, identity: TestAuthority.es256().identity, storage: storage, options: options,
      clock: clock.reading)
  }

  /// The defaults of `receipt-tool verify --trust DIR/root.cer`.
  static func verifier(at now: Timestamp = Timestamp(secondsSince1970: 2_300_000_000)) throws
    -> ReceiptVerifier
  {
    ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors,
      policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox]), clock: { now })
  }

  /// The transaction in a valid receipt.
  static func verified(_ receipt: [UInt8], at now: Timestamp? = nil) throws -> JWSTransaction {
    let verdict = try verifier(at: now ?? Timestamp(secondsSince1970: 2_300_000_000)).verify(
      .jws(try UnverifiedJWS(parsing: receipt)))
    guard case .valid(let receipt) = verdict, case .jws(.transaction(let transaction)) = receipt.content
    else {
      throw FixtureError.notVerified("\(verdict)")
    }
    return transaction
  }

  /// A valid notification with its parts.
  static func verified(
    _ notification: SignedNotification, by verifier: ReceiptVerifier
  ) throws -> AppStoreNotification {
    try NotificationReceiver(verifier: verifier).receive(Array(notification.signedPayload.utf8))
  }

  enum FixtureError: Error {
    case notVerified(String)
    case notSold(PurchaseOutcome)
  }

  static func offer(
    _ type: OfferType, _ identifier: String? = nil, _ mode: OfferDiscountType, _ period: String,
    count: Int = 1, price: Decimal = 0, codes: Set<String> = [],
    eligibility: Set<OfferEligibility> = [.new, .existing, .expired]
  ) throws -> SubscriptionOffer {
    guard let period = SubscriptionPeriod(period) else { throw FixtureError.notVerified(period) }
    return SubscriptionOffer(
      type: type, identifier: identifier, paymentMode: mode, period: period, periodCount: count, price: price,
      codes: codes, eligibility: eligibility)
  }

  static let catalog: ProductCatalog = {
    func subscription(
      _ identifier: String, _ group: String, level: Int, _ period: SubscriptionPeriod?, _ price: Decimal,
      shared: Bool = false, offers: [SubscriptionOffer?] = []
    ) -> CatalogProduct? {
      period.map {
        CatalogProduct(
          productIdentifier: identifier, type: .autoRenewableSubscription, price: price,
          isFamilyShareable: shared,
          subscription: SubscriptionTerms(
            groupIdentifier: group, level: level, period: $0, offers: offers.compactMap(\.self)))
      }
    }
    let month = SubscriptionPeriod("P1M")
    let offers = [
      try? offer(.introductory, nil, .freeTrial, "P1W"),
      try? offer(.promotional, "loyal", .payAsYouGo, "P1M", count: 3, price: 2),
      try? offer(.offerCode, "spring", .payUpFront, "P1M", count: 2, price: 5, codes: ["SPRING"]),
      try? offer(.offerCode, "welcome", .freeTrial, "P1M", codes: ["WELCOME"], eligibility: [.new]),
      try? offer(.winBack, "come-back", .payAsYouGo, "P1M", count: 2, price: 1),
    ]
    let products: [CatalogProduct?] = [
      CatalogProduct(productIdentifier: "coins", type: .consumable, price: Decimal(string: "0.99") ?? 1),
      CatalogProduct(
        productIdentifier: "level", type: .nonConsumable, price: 3,
        localizations: [ProductLocalization(locale: "en_US", title: "Level", description: "One more")],
        relatedProductIdentifiers: ["level.hd"]),
      CatalogProduct(
        productIdentifier: "level.hd", type: .nonConsumable, price: 3, relatedProductIdentifiers: ["level"]),
      CatalogProduct(productIdentifier: "theme", type: .nonConsumable, price: 2, isFamilyShareable: true),
      CatalogProduct(
        productIdentifier: "fixed", type: .nonConsumable, price: 2, isRestorable: false),
      CatalogProduct(productIdentifier: "season", type: .nonRenewingSubscription, price: 10),
      CatalogProduct(productIdentifier: "gone", type: .consumable, price: 1, isForSale: false),
      subscription("gold", "pro", level: 1, month, 10, shared: true),
      subscription("silver", "pro", level: 2, month, 5, offers: offers),
      subscription("silver.plus", "pro", level: 2, month, 6),
      subscription("bronze", "pro", level: 3, SubscriptionPeriod("P1Y"), 20),
      subscription("news", "press", level: 1, SubscriptionPeriod("P1W"), 1),
    ]
    return ProductCatalog(
      products: products.compactMap(\.self),
      subscriptionGroups: [SubscriptionGroup(id: "pro"), SubscriptionGroup(id: "press")])
  }()
}

extension LocalStore.Session {
  /// Buys a product, which must succeed.
  func buy(
    _ productIdentifier: String, request: String, quantity: Int = 1, username: String? = nil,
    offer: PaymentOffer? = nil
  ) async throws -> StoreTransaction {
    var payment = MutablePayment(productIdentifier: productIdentifier)
    payment.quantity = quantity
    payment.applicationUsername = username
    payment.offer = offer
    let outcome = try await purchase(PurchaseRequest(id: request, payment: Payment(payment)))
    guard case .purchased(let sold) = outcome else { throw StoreFixture.FixtureError.notSold(outcome) }
    return sold
  }

  /// Buys a product and finishes the transaction.
  func own(_ productIdentifier: String, request: String, username: String? = nil) async throws
    -> StoreTransaction
  {
    let sold = try await buy(productIdentifier, request: request, username: username)
    try await finish(transactionIdentifier: sold.transactionIdentifier)
    return sold
  }

  /// The error of a purchase, if any.
  func refusal(
    _ productIdentifier: String, request: String, offer: PaymentOffer? = nil,
    _ change: (inout MutablePayment) -> Void = { _ in }
  ) async throws -> StoreError.Code? {
    var payment = MutablePayment(productIdentifier: productIdentifier)
    payment.offer = offer
    change(&payment)
    let outcome = try await purchase(PurchaseRequest(id: request, payment: Payment(payment)))
    guard case .failed(let error) = outcome else { return nil }
    return error.code
  }
}
