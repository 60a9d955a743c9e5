// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension EntitlementLedger {
  /// The entitlement of a purchase in Google Play; `nil` until Google Play was asked about it.
  public subscript(id: PlayEntitlement.ID) -> PlayEntitlement? { playPurchases[id] }

  /// The entitlements of all purchases in Google Play, sorted by app and purchase token.
  public var playEntitlements: [PlayEntitlement] { playPurchases.lines }

  /// Merges facts about a purchase in Google Play.
  ///
  /// If the purchase was granted and names another that it replaced, the other one ends.
  package mutating func apply(_ line: PlayPurchaseLine, to id: PlayEntitlement.ID) {
    playPurchases.join(line, to: id)
    guard let purchase = line.purchase, let linked = purchase.linkedPurchaseToken,
      // Until the new purchase is paid for, the other one continues.
      !purchase.state.hasPrefix("SUBSCRIPTION_STATE_PENDING"),
      let replaced = PlayEntitlement.ID(packageName: id.packageName, purchaseToken: linked), replaced != id
    else { return }
    playPurchases.join(
      PlayPurchaseLine().with {
        $0.replaced = PlayReplacedFact(
          date: purchase.startTime ?? purchase.asOf, purchaseToken: id.purchaseToken)
      }, to: replaced)
  }
}
