// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import GooglePlay
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import RemoteChecks

  /// The result of asking Google Play about a purchase token, or the app's ledgers if there are no credentials.
  enum GooglePlayFinding {
    /// The purchase is known, and the policy accepts it; whether it stands is for the caller to see.
    case known(PlayEntitlement)
    /// Google Play does not know the purchase, or the policy refuses it.
    case refused(Reason)
    /// Google Play knew the purchase once: it expired long ago.
    case noLongerValid
    /// Google Play could not be asked.
    case unavailable(GooglePlayError)
    /// There are no credentials, and the ledgers do not know the purchase.
    case noCredentials
  }

  extension Verification {
    /// `true` if the app has credentials for Google Play.
    var canAskGooglePlay: Bool {
      app.configuration.lookup?.canAsk(about: .googlePlay(purchaseToken: "")) ?? false
    }

    /// Asks about a purchase token, and records the answer.
    func googlePlayFinding(_ token: String) async throws -> GooglePlayFinding {
      let reference = PurchaseReference.googlePlay(purchaseToken: token)
      guard let outcome = try await lookUp(reference)?.outcome else {
        return try await knownFinding(token)
      }
      if let error = outcome.googlePlayError { return .unavailable(error) }
      if outcome.isTokenNoLongerValid { return .noLongerValid }
      if let known = outcome.facts?.playEntitlements.first(where: { $0.id.purchaseToken == token }) {
        return .known(known)
      }
      guard let reason = outcome.answer.reason else { return .noCredentials }
      return .refused(reason)
    }

    private func knownFinding(_ token: String) async throws -> GooglePlayFinding {
      let parts = try await entitlements.entitlements(app: app.name, identifier: token)
      guard let known = parts.lazy.compactMap(\.ledger.playEntitlements.first).first else {
        return .noCredentials
      }
      let answer = policy.verifier.answer(
        from: "ledger", kind: .googlePlayPurchase, environment: known.isTest ? .sandbox : .production,
        bundleId: known.id.packageName, known.purchases(.ledger))
      _ = try await record(answer, about: .googlePlay(purchaseToken: token))
      if let reason = answer.reason, reason.code != .notCurrent { return .refused(reason) }
      return .known(known)
    }
  }
#endif
