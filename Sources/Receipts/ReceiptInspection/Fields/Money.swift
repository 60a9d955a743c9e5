// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Prices for people: the App Store counts thousandths of the currency's unit, Huawei hundredths.
package enum Money {
  private static let names = [
    "price", "renewalPrice", "commitmentPrice", "commitmentRenewalPrice", "renewPrice",
  ]
  private static let withoutDecimals: Set = ["CLP", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"]

  /// Returns the amount of a member with its currency, such as `9.99 EUR`; `nil` for other members or without a
  /// currency.
  static func text(of member: JSONMember, in members: [JSONMember]) -> String? {
    guard names.contains(member.name) else { return nil }
    let isHuawei = members.contains { $0.name == "applicationId" }
    return text(
      member.value.int64, members.first { $0.name == "currency" }?.value.string,
      decimalDigits: isHuawei ? 2 : 3)
  }

  /// Returns the amount, whose last digits are decimals, with its currency.
  package static func text(_ amount: Int64?, _ currency: String?, decimalDigits digits: Int = 3) -> String? {
    guard let amount, amount >= 0, let currency else { return nil }
    let unit: Int64 = digits == 2 ? 100 : 1000
    var decimals = String(unit + amount % unit).suffix(digits)
    let least = withoutDecimals.contains(currency) ? 0 : 2
    while decimals.count > least, decimals.last == "0" { decimals.removeLast() }
    return "\(amount / unit)\(decimals.isEmpty ? "" : ".\(decimals)") \(currency)"
  }
}
