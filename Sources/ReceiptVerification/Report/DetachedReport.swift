// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Prints what a purchase or licence of Google Play or Huawei states besides what all kinds share.
struct DetachedReport {
  let content: DetachedContent

  /// Names and values for a person.
  var lines: [(name: String, value: String)] {
    switch content {
    case .googlePlayLicense(let license):
      return [
        ("licence", "\(license.responseCode)"), ("nonce", String(license.nonce)), ("user", license.userId),
        ("valid until", license.validUntil?.iso8601 ?? "(not stated)"),
      ]
    case .googlePlayPurchase, .googlePlayOrders, .huaweiPurchase:
      var lines = unpaid.map { purchase in
        ("NOT PAID", "\(purchase.orderId ?? "(no order)")  state \(purchase.state)")
      }
      if let account = content.obfuscatedAccountId { lines.append(("account", account)) }
      return lines
    }
  }

  /// Adds members to the object of a verdict.
  func append(to object: inout JSONWriter) {
    switch content {
    case .googlePlayLicense(let license):
      object.name("license")
      object.beginObject()
      object.member("responseCode", license.responseCode.number)
      object.member("isLicensed", license.responseCode.isLicensed)
      object.member("nonce", license.nonce)
      object.member("versionCode", license.versionCode)
      object.member("userId", license.userId)
      object.member("validUntil", license.validUntil?.iso8601)
      object.endObject()
    case .googlePlayPurchase(let purchase):
      object.member("obfuscatedAccountId", purchase.obfuscatedAccountId)
      object.member("obfuscatedProfileId", purchase.obfuscatedProfileId)
      if let flag = purchase.autoRenewing { object.member("autoRenewing", flag) }
      if let flag = purchase.acknowledged { object.member("acknowledged", flag) }
      appendUnpaid(to: &object)
    case .googlePlayOrders(let list):
      if let nonce = list.nonce { object.member("nonce", nonce) }
      appendUnpaid(to: &object)
    case .huaweiPurchase(let purchase):
      if let flag = purchase.autoRenewing { object.member("autoRenewing", flag) }
      appendUnpaid(to: &object)
    }
  }

  private var unpaid: [(orderId: String?, productId: String?, state: Int64)] {
    switch content {
    case .googlePlayPurchase(let purchase): Self.unpaid([purchase])
    case .googlePlayOrders(let list): Self.unpaid(list.orders)
    case .googlePlayLicense: []
    case .huaweiPurchase(let purchase):
      purchase.isPaid ? [] : [(purchase.orderId, purchase.productId, purchase.purchaseState?.rawValue ?? 0)]
    }
  }

  private static func unpaid(
    _ purchases: [GooglePlayPurchase]
  ) -> [(orderId: String?, productId: String?, state: Int64)] {
    purchases.filter { !$0.isPaid }.map { ($0.orderId, $0.productId, $0.purchaseState?.rawValue ?? 0) }
  }

  private func appendUnpaid(to object: inout JSONWriter) {
    guard !unpaid.isEmpty else { return }
    object.name("unpaidPurchases")
    object.beginArray()
    for purchase in unpaid {
      object.beginObject()
      object.member("orderId", purchase.orderId)
      object.member("productId", purchase.productId)
      object.member("purchaseState", purchase.state)
      object.endObject()
    }
    object.endArray()
  }
}
