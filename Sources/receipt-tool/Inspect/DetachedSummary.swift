// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Purchases and licences of Google Play and Huawei AppGallery.
extension InspectionSummary {
  mutating func add(_ content: DetachedContent) {
    switch content {
    case .googlePlayPurchase(let purchase): add(purchase)
    case .googlePlayOrders(let list):
      text.add("nonce", list.nonce.map { "\($0)" })
      for (index, order) in list.orders.enumerated() {
        text.head("order \(index + 1) of \(list.orders.count)")
        add(order)
      }
    case .googlePlayLicense(let license): add(license)
    case .huaweiPurchase(let purchase): add(purchase)
    }
  }

  private mutating func add(_ purchase: GooglePlayPurchase) {
    let products = listed(purchase.productId) ?? purchase.productIds?.joined(separator: ", ")
    text.add("product", product(products, nil, purchase.quantity))
    addBought(purchase.purchaseTime, first: nil)
    addPayment(
      purchase.isPaid, purchase.purchaseState.map { meaning($0.meaning, of: $0.rawValue) } ?? "not stated")
    addRenewal(purchase.autoRenewing)
    text.add("acknowledged", purchase.acknowledged.map { $0 ? "yes" : "no, not when it was signed" })
    text.add("app", purchase.packageName)
    text.add("order", purchase.orderId)
    text.add("account", purchase.obfuscatedAccountId)
    text.add("profile", purchase.obfuscatedProfileId)
    text.add("token", purchase.purchaseToken)
  }

  private mutating func add(_ license: GooglePlayLicense) {
    let answer: String =
      switch license.responseCode {
      case .licensed: "the user has a licence"
      case .licensedOldKey: "the user has a licence, signed with an older key of the app"
      case .notLicensed: "the user has none"
      case .notMarketManaged: "Google Play does not manage the app"
      case .serverFailure: "Google's server failed; nothing follows"
      case .overQuota: "too many requests; nothing follows"
      case .unknown(let number): "response code \(number) (unknown)"
      }
    let isLicensed = license.responseCode.isLicensed
    text.add("licence", isLicensed ? "LICENSED" : "NOT LICENSED", isLicensed ? .good : .bad, ": \(answer)")
    text.add("answered", TimeText.relative(license.timestamp, to: now))
    if let date = license.validUntil {
      text.add("valid until", "\(TimeText.full(date)), \(TimeText.distance(date, to: now))")
    }
    text.add("app", "\(license.packageName) version \(license.versionCode)")
    text.add("user", license.userId)
    text.add("nonce", "\(license.nonce)")
  }

  private mutating func add(_ purchase: HuaweiPurchase) {
    let type: String? = purchase.kind.map { kind in
      switch kind {
      case .consumable: "consumable"
      case .nonConsumable: "non-consumable"
      case .subscription: "subscription"
      case .unknown(let number): "type \(number) (unknown)"
      }
    }
    text.add("product", product(purchase.productId, type, purchase.quantity))
    text.add("", purchase.productName)
    text.add("price", price(purchase.price, purchase.currency))
    addBought(purchase.purchaseTime ?? purchase.purchaseTimeMillis, first: purchase.oriPurchaseTime)
    addPayment(
      purchase.isPaid, purchase.purchaseState.map { meaning($0.meaning, of: $0.rawValue) } ?? "not stated")
    if let date = purchase.cancelTime { addRevoked(date, nil) }
    addExpiry(purchase.expirationDate)
    addRenewal(purchase.autoRenewing)
    text.add("next price", price(purchase.renewPrice, purchase.currency))
    text.add(
      "offer",
      listed(
        purchase.trialFlag == 1 ? "free trial" : nil,
        purchase.introductoryFlag == 1 ? "introductory price" : nil))
    text.add("purchase", purchase.purchaseType.map { meaning($0.meaning, of: $0.rawValue) })
    text.add("app", listed(purchase.packageName, purchase.country.map { "country \($0)" }))
    text.add("order", purchase.orderId)
    text.add("subscription", purchase.subscriptionId)
    text.add("token", purchase.purchaseToken)
  }

  private func price(_ price: JSONValue?, _ currency: String?) -> String? {
    Money.text(price?.int64 ?? price?.string.flatMap { Int64($0) }, currency, decimalDigits: 2)
  }

  private mutating func addPayment(_ isPaid: Bool, _ state: String) {
    text.add("state", isPaid ? "PAID" : "NOT PAID", isPaid ? .good : .bad, isPaid ? "" : ": \(state)")
  }

  private mutating func addRenewal(_ isOn: Bool?) {
    guard let isOn else { return }
    text.add("renewal", isOn ? "ON" : "OFF", isOn ? .good : .caution)
  }
}
