// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension DetachedContent {
  /// Writes the statements that other kinds of receipts do not share, for reports on verdicts.
  func write(to object: inout JSONWriter) {
    switch self {
    case .googlePlayLicense(let license):
      object.object("license") { object in
        object.member("responseCode", license.responseCode.rawValue)
        object.member("isLicensed", license.responseCode.isLicensed)
        object.member("nonce", license.nonce)
        object.member("versionCode", license.versionCode)
        object.member("userId", license.userId)
        object.member("validUntil", license.validUntil)
      }
    case .googlePlayPurchase(let purchase):
      object.member("obfuscatedAccountId", purchase.obfuscatedAccountId)
      object.member("obfuscatedProfileId", purchase.obfuscatedProfileId)
      object.member("autoRenewing", purchase.autoRenewing)
      object.member("acknowledged", purchase.acknowledged)
      appendUnpaid(to: &object)
    case .googlePlayOrders(let list):
      object.member("nonce", list.nonce)
      appendUnpaid(to: &object)
    case .huaweiPurchase(let purchase):
      object.member("autoRenewing", purchase.autoRenewing)
      appendUnpaid(to: &object)
    }
  }

  /// The purchases that were not paid for when they were signed.
  package var unpaid: [(orderId: String?, productId: String?, state: Int64)] {
    switch self {
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
    purchases.filter { !$0.isPaid }.flatMap { purchase in
      purchase.transactions.map { (purchase.orderId, $0.productId, purchase.purchaseState?.rawValue ?? 0) }
    }
  }

  private func appendUnpaid(to object: inout JSONWriter) {
    guard !unpaid.isEmpty else { return }
    object.array("unpaidPurchases", unpaid) { purchase, json in
      json.object { object in
        object.member("orderId", purchase.orderId)
        object.member("productId", purchase.productId)
        object.member("purchaseState", purchase.state)
      }
    }
  }
}
