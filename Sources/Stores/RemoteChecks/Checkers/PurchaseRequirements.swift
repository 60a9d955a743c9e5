// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptVerification

extension PurchaseRequirements {
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
    if let canonical, let otherUUID = other.canonical { return canonical == otherUUID }
    return rawValue == other.rawValue
  }
}
