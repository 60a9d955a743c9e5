// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// Checks a receipt against requirements by its own signed content, without a request.
///
/// It checks the account and a stated revocation. It cannot know events after the receipt was signed; for those use
/// ``AppStoreServerChecker``. Whether the purchase has expired is for the policy to require
/// (`VerificationPolicy.requiresCurrentPurchase`).
///
/// ```swift
/// let owned = SignedContentChecker(requirements: PurchaseRequirements(appAccountToken: account.token))
/// let verdict = await verifier.verify(receipt, checkers: [owned])
/// ```
///
/// A receipt that does not state an account is refused if one is required, so an attacker gains nothing by omitting it:
///
/// | Receipt | Account |
/// |---|---|
/// | signed transaction, signed renewal info | `appAccountToken` |
/// | signed notification | that of its signed transaction, else of its renewal info |
/// | Google Play purchase | `obfuscatedAccountId` |
/// | any other | none: refused |
///
/// A refusal makes the verdict invalid with the reason `checker-refused`. If every purchase of the receipt was refunded or
/// revoked, the verdict is invalid with the reason `revoked`.
public struct SignedContentChecker: RemoteChecker {
  /// `signed-content`.
  public let name = "signed-content"
  package var requirements: PurchaseRequirements
  private let clock: @Sendable () -> Timestamp

  /// Creates a checker.
  ///
  /// - Parameters:
  ///   - requirements: The requirements.
  ///   - clock: Returns the instant at which a revocation must have happened to count; the system's clock by default.
  public init(
    requirements: PurchaseRequirements, clock: @escaping @Sendable () -> Timestamp = { SystemClock.now() }
  ) {
    self.requirements = requirements
    self.clock = clock
  }

  /// Confirms a receipt if it meets the requirements.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer {
    let now = clock()
    let standings = receipt.purchases.map { $0.standing(at: now) }
    let withdrawn = standings.filter { [.refunded, .revoked].contains($0.status) }
    if !withdrawn.isEmpty, withdrawn.count == standings.count {
      return .response(CheckerResponse(.revoked(at: withdrawn.compactMap(\.since).max())))
    }
    if standings.count == 1, standings[0].status == .pending {
      return .refused("The purchase was not paid for when it was signed.")
    }
    if requirements.appAccountToken != nil, receipt.appAccountToken == nil, !receipt.statesAccount {
      return .refused("A receipt of the kind \(receipt.kind.rawValue) states no account.")
    }
    let refusal = requirements.refusal(
      isUpgraded: standings.count == 1 && standings[0].status == .upgraded,
      appAccountToken: receipt.appAccountToken.map { UUIDString(rawValue: $0) })
    return refusal.map { .refused($0) } ?? .response(CheckerResponse(.confirmed))
  }
}

extension VerifiedReceipt {
  /// `true` if a receipt of this kind can name the account that made the purchase.
  fileprivate var statesAccount: Bool {
    switch kind {
    case .signedTransaction, .signedRenewalInfo, .googlePlayPurchase: true
    case .signedNotification: !nested.isEmpty
    case .signedAppTransaction, .signedRealtimeRequest, .appReceipt, .transactionReceipt, .googlePlayLicense,
      .huaweiPurchase:
      false
    }
  }
}
