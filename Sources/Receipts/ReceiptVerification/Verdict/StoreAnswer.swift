// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The answer of a store about a purchase that is named by a reference instead of a receipt.
///
/// What the store signed in it was verified, and is also in ``receipt``. The rest is the store's because of the
/// connection, which TLS and the app's credentials authenticate.
public struct StoreAnswer: Sendable {
  /// The name of the store: `app-store`, `google-play` or `huawei`.
  public let store: String
  /// The reason that the policy refuses the purchase, that the store does not know it, or that the store could not be
  /// asked; `nil` if the purchase is known and meets the policy.
  public let reason: Reason?
  /// `true` if ``reason`` says only that there is no answer: the purchase is then neither valid nor refused.
  public let isUndetermined: Bool
  /// `true` if asking again may give an answer.
  public let isRetryable: Bool
  /// The kind of receipt that the store signs for such a purchase.
  public let kind: ReceiptKind
  /// The environment; `nil` if there is no answer.
  public let environment: ReceiptEnvironment?
  /// The app, by its bundle identifier or package name.
  public let bundleId: String?
  /// The purchases, with their standings; empty if ``reason`` is not `nil`.
  public let purchases: [Purchase]
  /// The signed transaction in the App Store's answer; `nil` in answers of other stores.
  public let receipt: VerifiedReceipt?

  /// Returns the standing of the purchases as a whole: see ``VerifiedReceipt/standing(at:)``.
  public func standing(at instant: Timestamp) -> PurchaseStanding? { purchases.standing(at: instant) }

  /// Returns the purchases that stand at an instant: those to grant.
  public func activePurchases(at instant: Timestamp) -> [Purchase] {
    purchases.active(at: instant)
  }

  /// The outcome in the words of verdicts: `valid`, `invalid` or `undetermined`.
  package var word: String {
    guard reason != nil else { return "valid" }
    return isUndetermined ? "undetermined" : "invalid"
  }

  /// Writes the members that verdicts have, too, with the standing of purchases at an instant.
  package func write(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("store", store)
    object.member("verdict", word)
    object.member("format", kind.rawValue)
    reason?.write(to: &object)
    if isUndetermined { object.member("retryable", isRetryable) }
    object.member("environment", environment?.plainName)
    object.member("bundleId", bundleId)
    purchases.writeStanding(to: &object, at: instant)
    object.array("transactions", purchases) { $0.write(to: &$1, at: instant) }
  }
}

extension ReceiptVerifier {
  /// Evaluates the policy on an answer whose purchases are known.
  package func answer(
    from store: String, kind: ReceiptKind, environment: ReceiptEnvironment?, bundleId: String?,
    _ purchases: [Purchase]
  ) -> StoreAnswer {
    do throws(ValidationError) {
      try evaluator.evaluate(
        answer: Claims(
          kind: kind, environment: environment, isEnvironmentSigned: true, bundleId: bundleId,
          appAppleId: nil,
          signedAt: nil, device: nil), purchases)
      return StoreAnswer(
        store: store, reason: nil, isUndetermined: false, isRetryable: false, kind: kind,
        environment: environment,
        bundleId: bundleId, purchases: purchases, receipt: nil)
    } catch {
      return answer(from: store, kind: kind, failing: error.verdict(claimedKind: kind))
    }
  }

  /// Verifies the signed transaction in the answer of the App Store, whose standing may follow from later ones.
  package func answer(
    from store: String, transaction: String, standing: CheckedStanding
  ) -> StoreAnswer {
    let check = CheckerReport(
      name: store, answer: .response(CheckerResponse(.confirmed, purchases: [standing])), duration: .zero)
    switch acceptingLapsedPurchases.verify(transaction).recording([check]) {
    case .valid(let receipt):
      do throws(ValidationError) { try evaluator.requireCurrentPurchase(of: receipt) } catch {
        return answer(from: store, kind: receipt.kind, failing: error.verdict(claimedKind: receipt.kind))
      }
      return StoreAnswer(
        store: store, reason: nil, isUndetermined: false, isRetryable: false, kind: receipt.kind,
        environment: receipt.environment, bundleId: receipt.bundleId, purchases: receipt.purchases,
        receipt: receipt)
    case let verdict: return answer(from: store, kind: .signedTransaction, failing: verdict)
    }
  }

  private func answer(from store: String, kind: ReceiptKind, failing verdict: Verdict) -> StoreAnswer {
    var retryable: Bool?
    if case .undetermined(let receipt) = verdict { retryable = receipt.isRetryable }
    return StoreAnswer(
      store: store, reason: verdict.reason, isUndetermined: retryable != nil, isRetryable: retryable ?? false,
      kind: kind, environment: nil, bundleId: nil, purchases: [], receipt: nil)
  }
}

extension StoreAnswer {
  /// Creates the answer about a purchase that the store does not know.
  package init(unknownTo store: String, kind: ReceiptKind, _ message: String) {
    self.init(
      store: store, reason: Reason(.checkerRefused, at: "checker \(store)", message), isUndetermined: false,
      isRetryable: false, kind: kind, environment: nil, bundleId: nil, purchases: [], receipt: nil)
  }

  /// Creates the answer of a store that could not be asked.
  package init(unavailable store: String, kind: ReceiptKind, _ message: String, isRetryable: Bool = false) {
    self.init(
      store: store, reason: Reason(.checkerUnavailable, at: "checker \(store)", message),
      isUndetermined: true,
      isRetryable: isRetryable, kind: kind, environment: nil, bundleId: nil, purchases: [], receipt: nil)
  }
}
