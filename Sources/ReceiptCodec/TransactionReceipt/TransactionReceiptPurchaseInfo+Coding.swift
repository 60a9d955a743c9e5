// SPDX-License-Identifier: Apache-2.0

extension TransactionReceiptPurchaseInfo {
  /// The three keys of one date. In milliseconds the date is exact; the other two are to the second.
  private struct DateKeys {
    var milliseconds: String
    var greenwich: String
    var losAngeles: String

    static let purchase = DateKeys(
      milliseconds: "purchase-date-ms", greenwich: "purchase-date", losAngeles: "purchase-date-pst")
    static let originalPurchase = DateKeys(
      milliseconds: "original-purchase-date-ms", greenwich: "original-purchase-date",
      losAngeles: "original-purchase-date-pst")
    static let expires = DateKeys(
      milliseconds: "expires-date", greenwich: "expires-date-formatted",
      losAngeles: "expires-date-formatted-pst")
  }

  /// Decodes the text of the inner property list.
  ///
  /// - Parameters:
  ///   - text: ``UnverifiedTransactionReceipt/purchaseInfo``.
  ///   - limits: Bounds on size and on the number of entries.
  /// - Throws: ``MalformedReceipt`` for a broken property list, or placed at a key:
  ///   `invalidValue` for what is not a date or a number, and for a date that differs by more than a second
  ///   from its other spelling; `outOfRange`.
  package init(decoding text: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    self.init()
    let list = try PropertyList(parsing: text, limits: limits, part: "purchase-info")
    // At most six: looking through them is quicker than hashing.
    var dates: [PropertyList.Entry] = []
    for entry in list.entries {
      switch entry.key {
      case "bid": bundleId = entry.value
      case "bvrs": applicationVersion = entry.value
      case "product-id": productId = entry.value
      case "item-id": itemId = entry.value
      case "app-item-id": appItemId = entry.value
      case "version-external-identifier": versionExternalIdentifier = entry.value
      case "quantity": quantity = try Self.number(entry.value, of: entry.key)
      case "transaction-id": transactionId = entry.value
      case "original-transaction-id": originalTransactionId = entry.value
      case "unique-identifier": uniqueIdentifier = entry.value
      case "unique-vendor-identifier": uniqueVendorIdentifier = entry.value
      case "web-order-line-item-id": webOrderLineItemId = entry.value
      case "purchase-date-ms", "purchase-date", "original-purchase-date-ms", "original-purchase-date",
        "expires-date", "expires-date-formatted":
        dates.append(entry)
      case "purchase-date-pst", "original-purchase-date-pst", "expires-date-formatted-pst":
        // A third spelling of the same instant, written again from it.
        break
      default: additionalEntries.append(entry)
      }
    }
    purchaseDate = try Self.date(.purchase, in: dates)
    originalPurchaseDate = try Self.date(.originalPurchase, in: dates)
    expiresDate = try Self.date(.expires, in: dates)
  }

  private static func date(
    _ keys: DateKeys, in dates: [PropertyList.Entry]
  ) throws(MalformedReceipt) -> Timestamp? {
    var exact: Timestamp?
    if let text = dates.first(where: { $0.key == keys.milliseconds })?.value {
      let milliseconds = try number(text, of: keys.milliseconds)
      guard milliseconds.magnitude <= UInt64(Timestamp.greatestMagnitude) else {
        throw MalformedReceipt(
          .outOfRange, at: .propertyListKey(keys.milliseconds), "The date lies too far away to be one.")
      }
      exact = Timestamp(millisecondsSince1970: Double(milliseconds))
    }
    guard let text = dates.first(where: { $0.key == keys.greenwich })?.value else { return exact }
    guard let whole = PurchaseInfoDate.parse(text) else {
      throw MalformedReceipt(
        .invalidValue, at: .propertyListKey(keys.greenwich),
        "The value is not a date such as 2012-12-02 07:15:54 Etc/GMT.")
    }
    guard let exact else { return whole }
    guard abs(exact.millisecondsSince1970 - whole.millisecondsSince1970) <= 1000 else {
      throw MalformedReceipt(
        .invalidValue, at: .propertyListKey(keys.greenwich),
        "The date differs from that in \(keys.milliseconds).")
    }
    return exact
  }

  private static func number(_ text: String, of key: String) throws(MalformedReceipt) -> Int64 {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    guard !digits.isEmpty, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
      throw MalformedReceipt(.invalidValue, at: .propertyListKey(key), "The value is not a whole number.")
    }
    guard let number = Int64(text) else {
      throw MalformedReceipt(.outOfRange, at: .propertyListKey(key), "The number does not fit in 64 bits.")
    }
    return number
  }

  /// The text of the inner property list, with the keys and spellings of the App Store: each date three
  /// times, in milliseconds and to the second in Greenwich and Los Angeles.
  ///
  /// A date outside the years 0 to 9999 is written in milliseconds alone.
  package func encoded() -> [UInt8] {
    var list = PropertyList()
    Self.write(originalPurchaseDate, as: .originalPurchase, to: &list)
    list["unique-identifier"] = uniqueIdentifier
    list["original-transaction-id"] = originalTransactionId
    Self.write(expiresDate, as: .expires, to: &list)
    list["transaction-id"] = transactionId
    list["quantity"] = quantity.map { String($0) }
    list["web-order-line-item-id"] = webOrderLineItemId
    list["unique-vendor-identifier"] = uniqueVendorIdentifier
    list["item-id"] = itemId
    list["app-item-id"] = appItemId
    list["version-external-identifier"] = versionExternalIdentifier
    list["bvrs"] = applicationVersion
    list["product-id"] = productId
    Self.write(purchaseDate, as: .purchase, to: &list)
    list["bid"] = bundleId
    list.entries += additionalEntries
    return list.encoded()
  }

  private static func write(_ date: Timestamp?, as keys: DateKeys, to list: inout PropertyList) {
    guard let date else { return }
    list[keys.milliseconds] = String(date.wholeMilliseconds)
    guard date.hasFourDigitYear else { return }
    list[keys.greenwich] = PurchaseInfoDate.greenwich(date)
    list[keys.losAngeles] = PurchaseInfoDate.losAngeles(date)
  }
}
