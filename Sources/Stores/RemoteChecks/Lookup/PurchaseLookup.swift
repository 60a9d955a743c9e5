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
  package var verifier: ReceiptVerifier
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

  /// Returns `true` if there are credentials for the store of a purchase.
  package func canAsk(about reference: PurchaseReference) -> Bool {
    switch reference {
    case .appStoreTransaction, .appStoreOrder: !appStore.isEmpty
    case .googlePlay: googlePlay != nil
    case .huawei: huawei != nil
    }
  }

  /// Asks a store about a purchase.
  public func answer(about reference: PurchaseReference) async -> StoreAnswer {
    await outcome(of: reference).answer
  }

  /// The answer of a store, and what a server needs beside it.
  package struct Outcome: Sendable {
    package let answer: StoreAnswer
    /// The facts in the answer, for a ledger. `nil` if there are none, or if the policy refuses the purchase for another
    /// reason than that it does not stand.
    package var facts: EntitlementLedger?
    /// The reason that Google Play gave no answer.
    package var googlePlayError: GooglePlayError?
    /// `true` if Google Play knew the purchase token once, and does not any more.
    package var isTokenNoLongerValid = false
    /// The time before which the store wants no further request, if it stated one.
    package var notBefore: Timestamp?

    init(_ answer: StoreAnswer, facts: EntitlementLedger? = nil) {
      self.answer = answer
      let isAccepted = answer.reason.map { $0.code == .notCurrent } ?? true
      self.facts = isAccepted ? facts : nil
    }
  }

  /// Asks a store about a purchase.
  ///
  /// If a purchase token of Google Play is probably that of a subscription, saying so saves a request.
  package func outcome(of reference: PurchaseReference, isSubscription: Bool = false) async -> Outcome {
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
      return await askGooglePlay(token, product, package, isSubscription)
    case .huawei(let token, let productId, let subscriptionId):
      return Outcome(await askHuawei(token, productId, subscriptionId))
    }
  }

  // MARK: App Store

  private func askAppStore(
    _ find: (AppStoreServerClient) async throws(AppStoreServerError) -> VerifiedPayload<JWSTransaction>?
  ) async -> Outcome {
    func unavailable(_ message: String, isRetryable: Bool = false) -> Outcome {
      Outcome(
        StoreAnswer(unavailable: "app-store", kind: .signedTransaction, message, isRetryable: isRetryable))
    }
    guard !appStore.isEmpty else { return unavailable("There are no credentials for the App Store.") }
    for client in appStore {
      do throws(AppStoreServerError) {
        guard let found = try await find(client) else { continue }
        return try await answer(about: found, client)
      } catch {
        if error.meansUnknownPurchase { continue }
        var outcome = unavailable(error.description, isRetryable: error.isRetryable)
        if case .rateLimited(let retryAfter) = error.cause { outcome.notBefore = retryAfter }
        return outcome
      }
    }
    let asked = appStore.map { $0.raw.address.environment.rawValue }.joined(separator: " and ")
    return Outcome(
      StoreAnswer(
        unknownTo: "app-store", kind: .signedTransaction,
        "The App Store does not know the purchase (asked \(asked))."))
  }

  /// Returns the answer about a transaction; for a subscription, about its latest transaction.
  private func answer(
    about found: VerifiedPayload<JWSTransaction>, _ client: AppStoreServerClient
  ) async throws(AppStoreServerError) -> Outcome {
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
    var facts = EntitlementLedger()
    do throws(EntitlementError) {
      try facts.apply(transaction: transaction.receipt, renewalInfo: renewal?.receipt, status: status)
    } catch {
      return Outcome(answer)
    }
    return Outcome(answer, facts: facts)
  }

  // MARK: Google Play

  private func askGooglePlay(
    _ token: String, _ product: String?, _ package: String?, _ isSubscription: Bool
  ) async -> Outcome {
    let (store, kind) = ("google-play", ReceiptKind.googlePlayPurchase)
    func unknown(_ message: String) -> Outcome {
      Outcome(StoreAnswer(unknownTo: store, kind: kind, message))
    }
    guard let client = package.flatMap({ googlePlay?.calling(for: $0) }) ?? googlePlay else {
      return Outcome(
        StoreAnswer(unavailable: store, kind: kind, "There are no credentials for Google Play."))
    }
    guard let id = PlayEntitlement.ID(packageName: client.packageName, purchaseToken: token) else {
      return unknown("This is no purchase token.")
    }
    var isNoLongerValid = false
    do throws(GooglePlayError) {
      // A token does not tell whether it is of a one-time purchase or of a subscription.
      for isSubscription in [isSubscription, !isSubscription] {
        let known = try await client.answer(about: id, isSubscription: isSubscription)
        isNoLongerValid = isNoLongerValid || known.isNoLongerValid
        guard let entitlement = known.facts[id] else { continue }
        let purchases = entitlement.purchases(.store)
        if let product, !purchases.contains(where: { UTF8Text.isIdentical($0.productId ?? "", product) }) {
          return unknown("Google Play has another product for this purchase.")
        }
        return Outcome(
          verifier.answer(
            from: store, kind: kind, environment: entitlement.isTest ? .sandbox : .production,
            bundleId: id.packageName, purchases),
          facts: known.facts)
      }
    } catch {
      var outcome = Outcome(
        StoreAnswer(unavailable: store, kind: kind, error.description, isRetryable: error.isRetryable))
      outcome.googlePlayError = error
      if case .refused(let refusal) = error.cause { outcome.notBefore = refusal.retryAfter }
      return outcome
    }
    var outcome = unknown("Google Play does not know the purchase.")
    outcome.isTokenNoLongerValid = isNoLongerValid
    return outcome
  }

  // MARK: Huawei

  private func askHuawei(
    _ token: String, _ productId: String?, _ subscriptionId: String?
  ) async -> StoreAnswer {
    let (store, kind) = ("huawei", ReceiptKind.huaweiPurchase)
    guard let huawei else {
      return StoreAnswer(unavailable: store, kind: kind, "There are no credentials for Huawei AppGallery.")
    }
    let known: HuaweiPurchase
    do throws(CheckFailure) {
      known = try await huawei.known(token: token, productId: productId, subscriptionId: subscriptionId)
    } catch {
      switch error.answer {
      case .retryableFailure(let message):
        return StoreAnswer(unavailable: store, kind: kind, message, isRetryable: true)
      case .terminalFailure(let message): return StoreAnswer(unavailable: store, kind: kind, message)
      case .response(let response):
        let message =
          if case .refused(let message) = response.standing { message } else {
            "Huawei refuses the purchase."
          }
        return StoreAnswer(unknownTo: store, kind: kind, message)
      }
    }
    if let productId, !UTF8Text.isIdentical(known.productId ?? "", productId) {
      return StoreAnswer(unknownTo: store, kind: kind, "Huawei has another product for this purchase.")
    }
    return verifier.answer(
      from: store, kind: kind, environment: DetachedContent.huaweiPurchase(known).environment,
      bundleId: known.packageName, [Purchase(known.transaction, known.timeline(.store))])
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
