// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The meanings of fields in signed JSON: the known names, and descriptions of values that are numbers or words.
struct FieldMeanings {
  /// The known names at the top level of the payload; `nil` if names are not checked.
  private let top: Set<String>?
  private let texts: [String: @Sendable (String) -> String?]
  private let numbers: [String: @Sendable (Int64) -> String?]

  init(of kind: ReceiptKind?) {
    switch kind {
    case .signedTransaction: top = WireMembers.names(of: JWSTransaction.self)
    case .signedRenewalInfo: top = WireMembers.names(of: JWSRenewalInfo.self)
    case .signedAppTransaction: top = WireMembers.names(of: AppTransaction.self)
    case .signedNotification: top = WireMembers.names(of: Notification.self)
    case .signedRealtimeRequest: top = WireMembers.names(of: RealtimeRequest.self)
    case .googlePlayPurchase:
      top = WireMembers.names(of: GooglePlayPurchase.self).union(
        WireMembers.names(of: GooglePlayOrderList.self))
    case .huaweiPurchase: top = WireMembers.names(of: HuaweiPurchase.self)
    case .appReceipt, .transactionReceipt, .googlePlayLicense, nil: top = nil
    }
    let isOfAppStore = kind.map { !$0.isDetached } ?? false
    texts = isOfAppStore ? WireMembers.appStoreTexts : [:]
    numbers =
      isOfAppStore
      ? WireMembers.appStoreNumbers
      : kind == .huaweiPurchase ? WireMembers.huaweiNumbers : WireMembers.googlePlayNumbers
  }

  /// Returns the description of the member's value; `nil` for a value that needs none.
  func meaning(of member: JSONMember) -> String? {
    let found: String?? =
      if let text = member.value.string {
        texts[member.name].map { $0(text) }
      } else if let number = member.value.int64 {
        numbers[member.name].map { $0(number) }
      } else {
        nil
      }
    return found.map { $0.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? "unknown value" }
  }

  /// Returns the known names of the members of an object, or of the objects in an array. The object is given by its
  /// name and the name of the object that contains it, which is `nil` at the top of a report. The result is `nil` if
  /// any name is allowed.
  func knownNames(in name: String, of parent: String?) -> Set<String>? {
    guard let top else { return nil }
    switch (name, parent) {
    case ("payload", nil), ("data", nil), ("orders", _): return top
    case ("payload", let part?): return Self.signedParts[part]
    case (_, nil): return nil
    default: return WireMembers.names[name]
    }
  }

  /// Returns `true` if a number of this name is an instant in milliseconds since 1970.
  static func isInstant(_ name: String) -> Bool {
    name.hasSuffix("Date") || name.hasSuffix("Time") || name == "purchaseTimeMillis"
  }

  private static let signedParts: [String: Set<String>] = [
    "signedTransactionInfo": WireMembers.names(of: JWSTransaction.self),
    "signedRenewalInfo": WireMembers.names(of: JWSRenewalInfo.self),
    "signedAppTransactionInfo": WireMembers.names(of: AppTransaction.self),
  ]
}

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
