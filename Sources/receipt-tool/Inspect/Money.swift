// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Prices as people write them: the App Store counts thousandths of the currency's unit, Huawei hundredths.
enum Money {
  private static let names = [
    "price", "renewalPrice", "commitmentPrice", "commitmentRenewalPrice", "renewPrice",
  ]
  private static let withoutDecimals: Set = ["CLP", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"]

  /// The amount of a member with its currency, such as `9.99 EUR`; `nil` for other members, or without a currency.
  static func text(of member: JSONMember, in members: [JSONMember]) -> String? {
    guard names.contains(member.name), let amount = member.value.int64, amount >= 0,
      let currency = members.first(where: { $0.name == "currency" })?.value.string
    else { return nil }
    let isHuawei = members.contains { $0.name == "applicationId" }
    let (unit, digits): (Int64, Int) = isHuawei ? (100, 2) : (1000, 3)
    var decimals = String(unit + amount % unit).suffix(digits)
    let least = withoutDecimals.contains(currency) ? 0 : 2
    while decimals.count > least, decimals.last == "0" { decimals.removeLast() }
    return "\(amount / unit)\(decimals.isEmpty ? "" : ".\(decimals)") \(currency)"
  }
}
