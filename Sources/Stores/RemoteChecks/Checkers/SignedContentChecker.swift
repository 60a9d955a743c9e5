// SPDX-License-Identifier: Apache-2.0

internal import Entitlements
public import ReceiptCodec
public import ReceiptVerification

/// Checks a receipt against requirements by its own signed content, without a request.
///
/// It checks the account, a stated revocation and the subscription's period. It cannot know events after the receipt
/// was signed; for those use ``AppStoreServerChecker``.
///
/// ```swift
/// let owned = SignedContentChecker(requirements: PurchaseRequirements(appAccountToken: account.token))
/// let verdict = await verifier.verify(receipt, checkers: [owned])
/// ```
///
/// A receipt that omits a field that a requirement needs is refused, so an attacker gains nothing by omitting it:
///
/// | Receipt | Account | Current subscription |
/// |---|---|---|
/// | signed transaction | `appAccountToken` | `expiresDate`; current if there is no expiry |
/// | signed renewal info | `appAccountToken` | `renewalDate`; during billing retry, `gracePeriodExpiresDate` |
/// | signed notification | that of its signed transaction, else of its renewal info | both together, as `Entitlement` |
/// | app receipt, transaction receipt | none: refused | a subscription is current; own `expirationDate` is not past |
/// | app transaction, realtime request | none: refused | none: refused |
/// | Google Play purchase | `obfuscatedAccountId` | none: refused |
/// | Huawei purchase | none: refused | `expirationDate`; current if there is no expiry |
///
/// A refusal makes the verdict invalid with the reason `checker-refused`. A purchase that states its revocation makes
/// it invalid with the reason `revoked`.
public struct SignedContentChecker: RemoteChecker {
  /// `signed-content`.
  public let name = "signed-content"
  package var requirements: PurchaseRequirements
  private let clock: @Sendable () -> Timestamp

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - requirements: The requirements.
  ///   - clock: Returns the instant at which a subscription must be current; the system's clock by default.
  public init(
    requirements: PurchaseRequirements, clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
  ) {
    self.requirements = requirements
    self.clock = clock
  }

  /// Confirms a receipt if it meets the requirements.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    .response(response(to: receipt, at: clock()))
  }

  private func response(to receipt: VerifiedReceipt, at now: Timestamp) -> CheckerResponse {
    switch receipt.content {
    case .jws(.transaction(let transaction)):
      return response(to: transaction, in: receipt, at: now)
    case .jws(.notification):
      guard let part = receipt.nested.first else { return refused("The notification is about no purchase.") }
      guard case .jws(.transaction(let transaction)) = part.content else {
        return response(to: part, at: now)
      }
      return response(to: transaction, in: receipt, at: now)
    case .jws(.renewalInfo(let renewalInfo)):
      if let refusal = requirements.refusal(appAccountToken: renewalInfo.appAccountToken) {
        return refused(refusal)
      }
      return isCurrent(renewalInfo, at: now) ? confirmed : refused(PurchaseRequirements.notActive("expired"))
    case .detached(let content):
      return response(to: content, in: receipt, at: now)
    case .jws(.appTransaction), .jws(.realtimeRequest), .appReceipt, .transactionReceipt:
      guard requirements.appAccountToken == nil else {
        return refused("A receipt of the kind \(receipt.kind.rawValue) states no account.")
      }
      return response(toPurchasesOf: receipt, at: now)
    }
  }

  private var confirmed: CheckerResponse { CheckerResponse(.confirmed) }

  private func refused(_ message: String) -> CheckerResponse { CheckerResponse(.refused(message: message)) }

  private func response(
    to transaction: JWSTransaction, in receipt: VerifiedReceipt, at now: Timestamp
  ) -> CheckerResponse {
    if let date = transaction.revocationDate { return CheckerResponse(.revoked(at: date)) }
    let refusal = requirements.refusal(
      isUpgraded: transaction.isUpgraded, appAccountToken: transaction.appAccountToken)
    if let refusal { return refused(refusal) }
    guard requirements.requiresCurrentSubscription else { return confirmed }
    var ledger = EntitlementLedger()
    if let notification = AppStoreNotification(receipt) {
      ledger.apply(notification)
    } else {
      do throws(EntitlementError) { try ledger.apply(transaction: receipt) } catch {
        return refused(error.message)
      }
    }
    guard let entitlement = ledger.entitlements.first else {
      return refused("The receipt does not state its app, environment and original transaction.")
    }
    return entitlement.grantsAccess(at: now)
      ? confirmed : refused(PurchaseRequirements.notActive(entitlement.state(at: now).rawValue))
  }

  /// Evaluates a detached receipt; Google Play's states no expiry.
  private func response(
    to content: DetachedContent, in receipt: VerifiedReceipt, at now: Timestamp
  ) -> CheckerResponse {
    let account = content.obfuscatedAccountId.map(UUIDString.init(rawValue:))
    if let refusal = requirements.refusal(appAccountToken: account) { return refused(refusal) }
    if case .googlePlayLicense = content {
      return requirements.requiresCurrentSubscription
        ? refused("A licence response states no purchase.") : confirmed
    }
    guard !receipt.transactions.isEmpty else {
      return refused("The purchase was pending, cancelled or refunded when it was signed.")
    }
    guard requirements.requiresCurrentSubscription else { return confirmed }
    guard content.store == .huawei else {
      return refused("A purchase of Google Play does not state until when it runs; ask Google.")
    }
    let ends = receipt.transactions.compactMap(\.expiresDate)
    return ends.isEmpty || ends.contains { now < $0 }
      ? confirmed : refused(PurchaseRequirements.notActive("expired"))
  }

  private func isCurrent(_ renewalInfo: JWSRenewalInfo, at now: Timestamp) -> Bool {
    guard requirements.requiresCurrentSubscription else { return true }
    if renewalInfo.isInBillingRetryPeriod == true {
      return renewalInfo.gracePeriodExpiresDate.map { now < $0 } ?? false
    }
    return renewalInfo.expirationIntent == nil && renewalInfo.renewalDate.map { now < $0 } ?? false
  }

  /// Evaluates a receipt with many purchases; revoked ones are ignored if any other is not revoked.
  private func response(toPurchasesOf receipt: VerifiedReceipt, at now: Timestamp) -> CheckerResponse {
    let standing = receipt.transactions.filter { $0.revocationDate == nil }
    if standing.isEmpty, let revocation = receipt.transactions.compactMap(\.revocationDate).max() {
      return CheckerResponse(.revoked(at: revocation))
    }
    guard requirements.requiresCurrentSubscription else { return confirmed }
    // A copy of the app with an end date was bought for a time, and all its purchases with it.
    if let end = receipt.expirationDate {
      guard now < end else { return refused("The receipt itself expired at \(end.iso8601).") }
      if standing.isEmpty { return confirmed }
    }
    let isHistory = receipt.kind == .appReceipt || receipt.kind == .transactionReceipt
    guard isHistory, !standing.isEmpty else {
      return refused("The receipt states no purchase, and until when.")
    }
    let ends = standing.compactMap(\.expiresDate)
    return ends.isEmpty || ends.contains { now < $0 }
      ? confirmed : refused(PurchaseRequirements.notActive("expired"))
  }
}
