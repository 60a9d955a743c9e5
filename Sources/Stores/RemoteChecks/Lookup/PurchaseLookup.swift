// SPDX-License-Identifier: Apache-2.0

public import AppStoreServer
package import Entitlements
public import GooglePlay
internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptVerification

/// Asks the stores about purchases that are named by a reference, with the app's credentials.
///
/// ```swift
/// let lookup = PurchaseLookup(verifier: verifier, googlePlay: client)
/// let answer = await lookup.answer(about: .googlePlay(purchaseToken: token))
/// for purchase in answer.activePurchases(at: SystemClock.now()) { grant(purchase.productId) }
/// ```
public struct PurchaseLookup: Sendable {
  /// Verifies what the App Store signed, and evaluates its policy on every answer.
  package let verifier: ReceiptVerifier
  private let appStore: [AppStoreServerClient]
  private let googlePlay: GooglePlayClient?
  private let huawei: HuaweiChecker?
  private let clock: @Sendable () -> Timestamp

  /// Creates a lookup.
  ///
  /// - Parameters:
  ///   - verifier: The verifier, with the policy for the app's purchases.
  ///   - appStore: A client for each environment of the App Store; production is asked first.
  ///   - googlePlay: The client for the app's package.
  ///   - huawei: The checker with the app's credentials.
  ///   - clock: Returns the current time.
  public init(
    verifier: ReceiptVerifier, appStore: [AppStoreServerClient] = [], googlePlay: GooglePlayClient? = nil,
    huawei: HuaweiChecker? = nil, clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
  ) {
    self.verifier = verifier
    self.appStore = appStore.sorted {
      $0.raw.address.environment == .production && $1.raw.address.environment != .production
    }
    self.googlePlay = googlePlay
    self.huawei = huawei
    self.clock = clock
  }

  /// Returns `true` if there are credentials for a store, named as in ``PurchaseReference/store``.
  package func canAsk(_ store: String) -> Bool {
    switch store {
    case "app-store": !appStore.isEmpty
    case "google-play": googlePlay != nil
    default: huawei != nil
    }
  }

  /// Asks a store about a purchase.
  public func answer(about reference: PurchaseReference) async -> StoreAnswer {
    await answerWithFacts(about: reference).answer
  }

  /// Asks a store about a purchase, and returns also the facts in its answer, for a ledger.
  package func answerWithFacts(
    about reference: PurchaseReference
  ) async -> (answer: StoreAnswer, facts: EntitlementLedger?) {
    switch reference {
    case .appStoreTransaction(let id):
      return await askAppStore { client async throws(AppStoreServerError) in
        try await client.send(.transaction(id))
      }
    case .appStoreOrder(let id):
      return await askAppStore { client async throws(AppStoreServerError) in
        try await client.send(.orderLookup(id))?.max {
          ($0.payload.purchaseDate?.millisecondsSince1970 ?? 0)
            < ($1.payload.purchaseDate?.millisecondsSince1970 ?? 0)
        }
      }
    case .googlePlay(let token, let product, let package):
      return await askGooglePlay(token, product, package)
    case .huawei(let token, let productId, let subscriptionId):
      return (await askHuawei(token, productId, subscriptionId), nil)
    }
  }

  private func failure(
    _ reference: String, _ kind: ReceiptKind, _ message: String, isFailure: Bool = true,
    isRetryable: Bool = false
  ) -> StoreAnswer {
    verifier.answer(
      from: reference, kind: kind, failing: message, isFailure: isFailure, isRetryable: isRetryable)
  }

  // MARK: App Store

  private func askAppStore(
    _ find: (AppStoreServerClient) async throws(AppStoreServerError) -> VerifiedPayload<JWSTransaction>?
  ) async -> (StoreAnswer, EntitlementLedger?) {
    guard !appStore.isEmpty else {
      return (failure("app-store", .signedTransaction, "There are no credentials for the App Store."), nil)
    }
    for client in appStore {
      do throws(AppStoreServerError) {
        guard let found = try await find(client) else { continue }
        return try await answer(about: found, client)
      } catch {
        if error.meansUnknownPurchase { continue }
        return (
          failure("app-store", .signedTransaction, error.description, isRetryable: error.isRetryable), nil
        )
      }
    }
    let asked = appStore.map { $0.raw.address.environment.rawValue }.joined(separator: " and ")
    return (
      failure(
        "app-store", .signedTransaction, "The App Store does not know the purchase (asked \(asked)).",
        isFailure: false), nil
    )
  }

  /// Returns the answer about a transaction; for a subscription, about its latest transaction.
  private func answer(
    about found: VerifiedPayload<JWSTransaction>, _ client: AppStoreServerClient
  ) async throws(AppStoreServerError) -> (StoreAnswer, EntitlementLedger?) {
    var transaction = found
    var renewal: VerifiedPayload<JWSRenewalInfo>?
    var status: SubscriptionStatus?
    if found.payload.type == .autoRenewableSubscription, let original = found.payload.originalTransactionId {
      let subscriptions = try await client.send(.subscriptionStatuses(of: original))
      if let subscription = subscriptions.first(where: { $0.originalTransactionId == original }) {
        transaction = subscription.purchase.transaction
        renewal = subscription.purchase.renewalInfo
        status = subscription.status
      }
    }
    var purchase = AppStorePurchase(transaction.payload)
    purchase.renewalInfo = renewal?.payload
    purchase.renewalInfoSignedDate = renewal?.payload.signedDate
    let standing = purchase.timeline(.store, signedAt: transaction.receipt.signedAt).standing(at: clock())
    let answer = verifier.answer(
      from: "app-store", transaction: transaction.compact, standing: CheckedStanding(standing))
    guard answer.reason == nil else { return (answer, nil) }
    var facts = EntitlementLedger()
    do throws(EntitlementError) {
      try facts.apply(transaction: transaction.receipt, renewalInfo: renewal?.receipt, status: status)
    } catch {
      return (answer, nil)
    }
    return (answer, facts)
  }

  // MARK: Google Play

  private func askGooglePlay(
    _ token: String, _ product: String?, _ package: String?
  ) async -> (StoreAnswer, EntitlementLedger?) {
    guard let client = package.flatMap({ googlePlay?.calling(for: $0) }) ?? googlePlay else {
      return (failure("google-play", .googlePlayPurchase, "There are no credentials for Google Play."), nil)
    }
    guard let id = PlayEntitlement.ID(packageName: client.packageName, purchaseToken: token) else {
      return (
        failure("google-play", .googlePlayPurchase, "This is no purchase token.", isFailure: false), nil
      )
    }
    let facts: EntitlementLedger
    do throws(GooglePlayError) {
      facts = try await ask(client, id)
    } catch {
      switch error.code {
      case .notFound, .invalidRequest, .tokenNoLongerValid:
        let message = "Google Play does not know the purchase (\(error.cause))."
        return (failure("google-play", .googlePlayPurchase, message, isFailure: false), nil)
      default:
        return (
          failure("google-play", .googlePlayPurchase, error.description, isRetryable: error.isRetryable), nil
        )
      }
    }
    guard let entitlement = facts[id] else {
      return (
        failure("google-play", .googlePlayPurchase, "Google Play names no purchase.", isFailure: false), nil
      )
    }
    let purchases = entitlement.purchases(.store)
    if let product, !purchases.contains(where: { UTF8Text.isIdentical($0.productId ?? "", product) }) {
      let message = "Google Play has another product for this purchase."
      return (failure("google-play", .googlePlayPurchase, message, isFailure: false), nil)
    }
    let answer = verifier.answer(
      from: "google-play", kind: .googlePlayPurchase,
      environment: entitlement.isTest ? .sandbox : .production,
      bundleId: id.packageName, purchases)
    // A purchase that the policy refuses, such as a licence tester's, entitles nobody.
    return (answer, answer.reason == nil ? facts : nil)
  }

  /// A token does not tell whether it is of a one-time purchase or of a subscription.
  private func ask(
    _ client: GooglePlayClient, _ id: PlayEntitlement.ID
  ) async throws(GooglePlayError) -> EntitlementLedger {
    var ledger = EntitlementLedger()
    let asOf = clock()
    do throws(GooglePlayError) {
      ledger.apply(try await client.send(.product(id.purchaseToken)), to: id, asOf: asOf)
    } catch {
      guard error.code == .notFound || error.code == .invalidRequest else { throw error }
      ledger.apply(try await client.send(.subscription(id.purchaseToken)), to: id, asOf: asOf)
    }
    return ledger
  }

  // MARK: Huawei

  private func askHuawei(_ token: String, _ productId: String?, _ subscriptionId: String?) async
    -> StoreAnswer
  {
    guard let huawei else {
      return failure("huawei", .huaweiPurchase, "There are no credentials for Huawei AppGallery.")
    }
    let known: HuaweiPurchase
    do throws(CheckFailure) {
      known = try await huawei.known(token: token, productId: productId, subscriptionId: subscriptionId)
    } catch {
      switch error.answer {
      case .retryableFailure(let message):
        return failure("huawei", .huaweiPurchase, message, isRetryable: true)
      case .terminalFailure(let message): return failure("huawei", .huaweiPurchase, message)
      case .response(let response):
        let message =
          if case .refused(let message) = response.standing { message } else {
            "Huawei refuses the purchase."
          }
        return failure("huawei", .huaweiPurchase, message, isFailure: false)
      }
    }
    let content = DetachedContent.huaweiPurchase(known)
    return verifier.answer(
      from: "huawei", kind: .huaweiPurchase, environment: content.environment, bundleId: known.packageName,
      [Purchase(known.transaction, known.timeline(.store))])
  }
}

extension AppStoreServerError {
  /// `true` if the App Store answered that it does not know the purchase.
  var meansUnknownPurchase: Bool {
    code.map {
      [
        .transactionIdNotFound, .originalTransactionIdNotFound, .accountNotFound, .appTransactionNotFound,
        .invalidTransactionId, .invalidOriginalTransactionId,
      ].contains($0)
    } ?? false
  }
}
