// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptVerification

/// Requirements that a purchase must meet, besides being genuine and not revoked.
///
/// ``AppStoreServerChecker`` compares them with the App Store's answer, and ``SignedContentChecker`` with the receipt
/// itself.
public struct PurchaseRequirements: Sendable, Hashable {
  /// Indicates whether a subscription that was upgraded to another is refused; `true` by default.
  package var refusesUpgraded: Bool
  /// The account that must own the purchase (`appAccountToken`); `nil` accepts any.
  package var appAccountToken: UUIDString?
  /// Indicates whether a subscription must be active or in its grace period now. `false` by default, because a receipt
  /// proves a purchase and not a current period.
  package var requiresCurrentSubscription: Bool

  /// Creates requirements.
  public init(
    refusesUpgraded: Bool = true, appAccountToken: UUIDString? = nil,
    requiresCurrentSubscription: Bool = false
  ) {
    self.refusesUpgraded = refusesUpgraded
    self.appAccountToken = appAccountToken
    self.requiresCurrentSubscription = requiresCurrentSubscription
  }

  /// Returns the reason why a purchase with this `isUpgraded` and `appAccountToken` is refused; `nil` if it is not.
  func refusal(isUpgraded: Bool? = nil, appAccountToken token: UUIDString?) -> String? {
    if refusesUpgraded, isUpgraded == true { return "The subscription was upgraded to another since." }
    if let appAccountToken, !appAccountToken.isSame(as: token) {
      return "The purchase belongs to another account, or to none."
    }
    return nil
  }

  /// Returns the reason why a subscription in this state is refused if a current one is required.
  static func notActive(_ state: String) -> String { "The subscription is not active (\(state))." }
}

extension UUIDString {
  /// Returns `true` if both are the same UUID, even if they are spelled differently.
  fileprivate func isSame(as other: UUIDString?) -> Bool {
    guard let other else { return false }
    if let uuid, let otherUUID = other.uuid { return uuid == otherUUID }
    return rawValue == other.rawValue
  }
}
