// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

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
    case .googlePlayOrders(let list):
      object.member("nonce", list.nonce)
    case .huaweiPurchase(let purchase):
      object.member("autoRenewing", purchase.autoRenewing)
    }
  }
}
