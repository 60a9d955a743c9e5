// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import ReceiptVerification

/// What is required of a purchase beyond that it is genuine and not revoked: of what the App Store says of it
/// (``AppStoreServerChecker``), or of what the receipt itself states (``SignedContentChecker``).
public struct PurchaseRequirements: Sendable, Hashable {
  /// Whether a subscription that was upgraded to another is refused; by default it is.
  public var refusesUpgraded: Bool
  /// The account that must own the purchase (`appAccountToken`); `nil` for any.
  public var appAccountToken: UUIDString?
  /// Whether a subscription must be active or in its grace period now; not by default, as a receipt proves a
  /// purchase and not a running period.
  public var requiresCurrentSubscription: Bool

  /// Creates requirements.
  public init(
    refusesUpgraded: Bool = true, appAccountToken: UUIDString? = nil,
    requiresCurrentSubscription: Bool = false
  ) {
    self.refusesUpgraded = refusesUpgraded
    self.appAccountToken = appAccountToken
    self.requiresCurrentSubscription = requiresCurrentSubscription
  }

  /// Why a purchase with this `isUpgraded` and `appAccountToken` is refused; `nil` if it is not.
  func refusal(isUpgraded: Bool? = nil, appAccountToken token: UUIDString?) -> String? {
    if refusesUpgraded, isUpgraded == true { return "The subscription was upgraded to another since." }
    if let appAccountToken, !appAccountToken.isSame(as: token) {
      return "The purchase belongs to another account, or to none."
    }
    return nil
  }

  /// Why a subscription in this state is refused where a current one is required.
  static func notActive(_ state: String) -> String { "The subscription is not active (\(state))." }
}

extension UUIDString {
  /// Whether both are the same UUID, however they are spelled.
  fileprivate func isSame(as other: UUIDString?) -> Bool {
    guard let other else { return false }
    if let uuid, let otherUUID = other.uuid { return uuid == otherUUID }
    return rawValue == other.rawValue
  }
}
