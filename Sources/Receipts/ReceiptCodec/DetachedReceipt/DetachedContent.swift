// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The signed data of a receipt with a detached signature.
public indirect enum DetachedContent: Sendable, Hashable {
  /// A Google Play purchase.
  case googlePlayPurchase(GooglePlayPurchase)
  /// Google Play purchases in the format used from 2011 to 2014.
  case googlePlayOrders(GooglePlayOrderList)
  /// A response of Google Play's licensing service.
  case googlePlayLicense(GooglePlayLicense)
  /// A Huawei AppGallery purchase.
  case huaweiPurchase(HuaweiPurchase)

  /// Members that occur in Huawei's purchases but not in Google's.
  private static let huaweiNames = ["applicationId", "applicationIdString", "purchaseTimeMillis", "payType"]

  /// Decodes signed data.
  ///
  /// - Throws: ``MalformedReceipt`` with the JSON path or the byte offset; the code is `missing`, at `$.packageName`,
  ///   if the data names no app.
  package init(
    decoding bytes: [UInt8], store: PurchaseStore? = nil, limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) {
    guard Self.isJSON(bytes) else {
      self = .googlePlayLicense(try GooglePlayLicense(decoding: bytes, limits: limits))
      return
    }
    if store == .huawei {
      self = .huaweiPurchase(try HuaweiPurchase(json: bytes, part: "data", limits: limits))
      try requirePackage()
      return
    }
    let purchase = try GooglePlayPurchase(json: bytes, part: "data", limits: limits)
    if purchase.packageName == nil, purchase.hasUnknownField(["orders"]) {
      let list = try GooglePlayOrderList(json: bytes, part: "data", limits: limits)
      try list.requireOneApp()
      self = .googlePlayOrders(list)
    } else if store == nil, purchase.hasUnknownField(Self.huaweiNames) {
      try self.init(decoding: bytes, store: .huawei, limits: limits)
    } else {
      self = .googlePlayPurchase(purchase)
      try requirePackage()
    }
  }

  /// Decodes hand-written data that is to be signed; dates may also be in ISO 8601.
  package init(
    authoring json: [UInt8], store: PurchaseStore, limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) {
    func read<Object: JSONObject>() throws(MalformedReceipt) -> Object {
      try Object(json: json, part: "data", limits: limits, acceptsDateStrings: true)
    }
    switch store {
    case .huawei: self = .huaweiPurchase(try read())
    case .googlePlay:
      let purchase: GooglePlayPurchase = try read()
      if purchase.packageName == nil, purchase.hasUnknownField(["orders"]) {
        let list: GooglePlayOrderList = try read()
        try list.requireOneApp()
        self = .googlePlayOrders(list)
      } else {
        self = .googlePlayPurchase(purchase)
      }
    }
    try requirePackage()
  }

  /// Returns the data in the form that is signed, with the members in the store's order.
  package func encoded() -> [UInt8] {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.encodedJSON()
    case .googlePlayOrders(let list): list.encodedJSON()
    case .googlePlayLicense(let license): license.encoded()
    case .huaweiPurchase(let purchase): purchase.encodedJSON()
    }
  }

  package var store: PurchaseStore {
    switch self {
    case .googlePlayPurchase, .googlePlayOrders, .googlePlayLicense: .googlePlay
    case .huaweiPurchase: .huawei
    }
  }

  package var packageName: String? {
    switch self {
    case .googlePlayPurchase(let purchase): purchase.packageName
    case .googlePlayOrders(let list): list.orders.first?.packageName
    case .googlePlayLicense(let license): license.packageName
    case .huaweiPurchase(let purchase): purchase.packageName
    }
  }

  package var kind: ReceiptKind {
    switch self {
    case .googlePlayPurchase, .googlePlayOrders: .googlePlayPurchase
    case .googlePlayLicense: .googlePlayLicense
    case .huaweiPurchase: .huaweiPurchase
    }
  }

  /// Returns the kind that the data claims to be, without decoding the data.
  package static func claimedKind(of bytes: [UInt8]) -> ReceiptKind {
    guard isJSON(bytes) else { return .googlePlayLicense }
    return namesHuaweiMember(bytes) ? .huaweiPurchase : .googlePlayPurchase
  }

  /// Returns `true` if one of ``huaweiNames`` is a member name in the data, in one pass.
  private static func namesHuaweiMember(_ bytes: [UInt8]) -> Bool {
    let quotationMark = UInt8(ascii: "\"")
    var start = 0
    while let index = ByteSearch.firstIndex(of: quotationMark, in: bytes.span, from: start) {
      start = index + 1
      // The names begin with one of these two letters, which rules out nearly every other quotation mark.
      guard start < bytes.count, bytes[start] == UInt8(ascii: "a") || bytes[start] == UInt8(ascii: "p") else {
        continue
      }
      let rest = bytes[start...]
      if quotedHuaweiNames.contains(where: { rest.starts(with: $0) }) { return true }
    }
    return false
  }

  private static let quotedHuaweiNames = huaweiNames.map { Array("\($0)\":".utf8) }

  /// Returns `false` for licence responses, which begin with a number. All other data counts as JSON; if it is not, the
  /// JSON reader reports the error.
  private static func isJSON(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first else { return true }
    return !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) && first != UInt8(ascii: "-")
  }

  private func requirePackage() throws(MalformedReceipt) {
    guard packageName?.isEmpty != false else { return }
    throw MalformedReceipt(
      .missing, at: .jsonPath("$.packageName"), "In the data: the member \"packageName\" is required.")
  }
}

extension JSONObject {
  /// Returns `true` if one of the names is a member without a field.
  fileprivate func hasUnknownField(_ names: [String]) -> Bool {
    unknownFields.contains { member in names.contains { UTF8Text.isIdentical($0, member.name) } }
  }
}

extension GooglePlayOrderList {
  /// Throws unless all orders belong to one app, because the key of one app signs the list.
  fileprivate func requireOneApp() throws(MalformedReceipt) {
    guard let package = orders.first?.packageName, !package.isEmpty else {
      throw MalformedReceipt(
        .missing, at: .jsonPath("$.orders[0].packageName"), "In the data: no order names the app.")
    }
    for (index, order) in orders.enumerated()
    where !UTF8Text.isIdentical(order.packageName ?? "", package) {
      throw MalformedReceipt(
        .invalidValue, at: .jsonPath("$.orders[\(index)].packageName"),
        "In the data: the orders are of several apps; one list is of one app.")
    }
  }
}
