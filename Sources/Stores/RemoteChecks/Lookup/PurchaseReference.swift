// SPDX-License-Identifier: Apache-2.0

internal import Entitlements

/// The name of a purchase in its store, which backends have in place of a receipt.
public enum PurchaseReference: Sendable, Hashable {
  /// A transaction of the App Store, by its `transactionId`; any of a subscription's transactions names the subscription.
  case appStoreTransaction(String)
  /// An order of the App Store, by the identifier in the customer's receipt by e-mail (`orderId`).
  case appStoreOrder(String)
  /// A purchase of Google Play, by its `purchaseToken`. A purchase without the product, if one is named, is refused. The
  /// package is that of the client unless another one is named.
  case googlePlay(purchaseToken: String, productId: String? = nil, packageName: String? = nil)
  /// A purchase of Huawei AppGallery, by its `purchaseToken` and its product, or by its subscription.
  case huawei(purchaseToken: String, productId: String? = nil, subscriptionId: String? = nil)

  /// The name of the store: `app-store`, `google-play` or `huawei`.
  public var store: String {
    switch self {
    case .appStoreTransaction, .appStoreOrder: "app-store"
    case .googlePlay: "google-play"
    case .huawei: "huawei"
    }
  }
}

extension PurchaseReference {
  /// The reference in one line, by which a record of the answer names it.
  package var text: String {
    switch self {
    case .appStoreTransaction(let id): "transactionId \(id)"
    case .appStoreOrder(let id): "orderId \(id)"
    case .googlePlay(let token, _, _): "purchaseToken \(token)"
    case .huawei(let token, let productId, let subscriptionId):
      "purchaseToken \(token) \(subscriptionId ?? productId ?? "")"
    }
  }

  /// An error for members that do not name a purchase: the member, and what to do.
  package struct Mistake: Error, Hashable {
    package let member: String
    package let message: String
  }

  /// Creates a reference from members with texts.
  ///
  /// - Throws: ``Mistake`` if they do not name one purchase of one store.
  package init(
    store: String?, transactionId: String? = nil, orderId: String? = nil, purchaseToken: String? = nil,
    productId: String? = nil, subscriptionId: String? = nil, packageName: String? = nil
  ) throws(Mistake) {
    let names = [transactionId, orderId, purchaseToken].compactMap(\.self)
    guard names.count == 1 else {
      throw Mistake(
        member: "store", message: "Name the purchase by one of transactionId, orderId and purchaseToken.")
    }
    for (member, value) in [
      ("transactionId", transactionId), ("orderId", orderId), ("purchaseToken", purchaseToken),
      ("productId", productId), ("subscriptionId", subscriptionId), ("packageName", packageName),
    ] {
      guard let value, !value.isIdentifier(1...2048) else { continue }
      throw Mistake(member: member, message: "It takes 1 to 2048 visible ASCII characters.")
    }
    switch (store, transactionId, orderId, purchaseToken) {
    case ("app-store", let id?, nil, nil), (nil, let id?, nil, nil): self = .appStoreTransaction(id)
    case ("app-store", nil, let id?, nil), (nil, nil, let id?, nil): self = .appStoreOrder(id)
    case ("google-play", nil, nil, let token?):
      self = .googlePlay(purchaseToken: token, productId: productId, packageName: packageName)
    case ("huawei", nil, nil, let token?):
      guard productId != nil || subscriptionId != nil else {
        throw Mistake(
          member: "productId", message: "Huawei asks for the product of a purchase, or for its subscription.")
      }
      self = .huawei(purchaseToken: token, productId: productId, subscriptionId: subscriptionId)
    default:
      throw Mistake(
        member: "store",
        message:
          "It takes app-store with a transactionId or an orderId, or google-play or huawei with a purchaseToken."
      )
    }
    let others = [
      ("productId", productId, ["google-play", "huawei"]), ("subscriptionId", subscriptionId, ["huawei"]),
      ("packageName", packageName, ["google-play"]),
    ]
    for (member, value, stores) in others where value != nil && !stores.contains(self.store) {
      throw Mistake(member: member, message: "A purchase of \(self.store) has no such member.")
    }
  }
}
