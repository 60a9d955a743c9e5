// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Purchases and licences of Google Play and Huawei AppGallery.
extension InspectionSummary {
  mutating func add(_ content: DetachedContent) {
    switch content {
    case .googlePlayPurchase(let purchase): add(purchase)
    case .googlePlayOrders(let list):
      collected.add("nonce", list.nonce.map { "\($0)" })
      for (index, order) in list.orders.enumerated() {
        collected.begin("order \(index + 1) of \(list.orders.count)")
        add(order)
      }
    case .googlePlayLicense(let license): add(license)
    case .huaweiPurchase(let purchase): add(purchase)
    }
  }

  private mutating func add(_ purchase: GooglePlayPurchase) {
    let products = purchase.products
    if products.isEmpty { collected.add("product", product(nil, nil, purchase.quantity)) }
    for name in products { collected.add("product", product(name, nil, purchase.quantity)) }
    addBought(purchase.purchaseTime, first: nil)
    addPayment(
      purchase.isPaid, purchase.purchaseState.map { meaning($0.meaning, of: $0.rawValue) } ?? "not stated")
    addRenewal(purchase.autoRenewing)
    collected.add("acknowledged", purchase.acknowledged.map { $0 ? "yes" : "no, not when it was signed" })
    collected.add("app", purchase.packageName)
    collected.add("order", purchase.orderId)
    collected.add("account", purchase.obfuscatedAccountId)
    collected.add("profile", purchase.obfuscatedProfileId)
    collected.add("token", purchase.purchaseToken)
  }

  private mutating func add(_ license: GooglePlayLicense) {
    let code = license.responseCode
    let answer = meaning(code.meaning, of: "response code \(code.rawValue)")
    let isLicensed = code.isLicensed
    collected.add(
      "licence", isLicensed ? "LICENSED" : "NOT LICENSED", isLicensed ? .good : .bad, ": \(answer)")
    collected.add("answered", TimeText.relative(license.timestamp, to: now))
    if let date = license.validUntil {
      collected.add("valid until", "\(TimeText.full(date)), \(TimeText.distance(date, to: now))")
    }
    collected.add("app", "\(license.packageName) version \(license.versionCode)")
    collected.add("user", license.userId)
    collected.add("nonce", "\(license.nonce)")
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
    collected.add("product", product(purchase.productId, type, purchase.quantity))
    collected.add("", purchase.productName)
    collected.add("price", price(purchase.price, purchase.currency))
    addBought(purchase.purchaseTime ?? purchase.purchaseTimeMillis, first: purchase.oriPurchaseTime)
    addPayment(
      purchase.isPaid, purchase.purchaseState.map { meaning($0.meaning, of: $0.rawValue) } ?? "not stated")
    if let date = purchase.cancelTime { addRevoked(date, nil) }
    addExpiry(purchase.expirationDate)
    addRenewal(purchase.autoRenewing)
    collected.add("next price", price(purchase.renewPrice, purchase.currency))
    collected.add(
      "offer",
      listed(
        purchase.trialFlag == 1 ? "free trial" : nil,
        purchase.introductoryFlag == 1 ? "introductory price" : nil))
    collected.add("purchase", purchase.purchaseType.map { meaning($0.meaning, of: $0.rawValue) })
    collected.add("app", listed(purchase.packageName, purchase.country.map { "country \($0)" }))
    collected.add("order", purchase.orderId)
    collected.add("subscription", purchase.subscriptionId)
    collected.add("token", purchase.purchaseToken)
  }

  private func price(_ price: JSONValue?, _ currency: String?) -> String? {
    Money.text(price?.int64 ?? price?.string.flatMap { Int64($0) }, currency, decimalDigits: 2)
  }

  private mutating func addPayment(_ isPaid: Bool, _ state: String) {
    collected.add("state", isPaid ? "PAID" : "NOT PAID", isPaid ? .good : .bad, isPaid ? "" : ": \(state)")
  }

  private mutating func addRenewal(_ isOn: Bool?) {
    guard let isOn else { return }
    collected.add("renewal", isOn ? "ON" : "OFF", isOn ? .good : .caution)
  }
}
