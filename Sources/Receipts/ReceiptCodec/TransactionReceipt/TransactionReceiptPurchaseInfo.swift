// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension TransactionReceiptPurchaseInfo {
  /// Creates purchase information, to be signed, from a transaction, the model that all receipt formats share.
  public init(transaction: Transaction = Transaction()) {
    productId = transaction.productId
    quantity = transaction.quantity
    transactionId = transaction.transactionId
    originalTransactionId = transaction.originalTransactionId
    purchaseDate = transaction.purchaseDate
    originalPurchaseDate = transaction.originalPurchaseDate
    expiresDate = transaction.expiresDate
  }

  /// The purchase as a transaction, the model that all receipt formats share. This format has no revocation date.
  package var transaction: Transaction {
    Transaction(
      transactionId: transactionId, originalTransactionId: originalTransactionId, productId: productId,
      quantity: quantity, purchaseDate: purchaseDate, originalPurchaseDate: originalPurchaseDate,
      expiresDate: expiresDate,
      inAppOwnershipType: additionalEntry("in-app-ownership-type").map { InAppOwnershipType(rawValue: $0) })
  }

  private func additionalEntry(_ key: String) -> String? {
    additionalEntries.first { $0.key == key }?.value
  }

  /// The keys, in the App Store's order.
  private enum Key: String, CaseIterable {
    case originalPurchaseDatePST = "original-purchase-date-pst"
    case uniqueIdentifier = "unique-identifier"
    case originalTransactionId = "original-transaction-id"
    case expiresDate = "expires-date"
    case transactionId = "transaction-id"
    case quantity
    case webOrderLineItemId = "web-order-line-item-id"
    case uniqueVendorIdentifier = "unique-vendor-identifier"
    case itemId = "item-id"
    case expiresDateFormatted = "expires-date-formatted"
    case appItemId = "app-item-id"
    case versionExternalIdentifier = "version-external-identifier"
    case applicationVersion = "bvrs"
    case productId = "product-id"
    case purchaseDate = "purchase-date"
    case originalPurchaseDate = "original-purchase-date"
    case purchaseDateMilliseconds = "purchase-date-ms"
    case originalPurchaseDateMilliseconds = "original-purchase-date-ms"
    case bundleId = "bid"
    case purchaseDatePST = "purchase-date-pst"
    case expiresDateFormattedPST = "expires-date-formatted-pst"

    static let all = Array(allCases)
    static let names = NameTable(all.map(\.rawValue))
  }

  /// The three keys of a date. The one in milliseconds is exact; the other two are in whole seconds.
  private struct DateKeys {
    let milliseconds: Key
    let greenwich: Key
    let losAngeles: Key

    static let purchase = DateKeys(
      milliseconds: .purchaseDateMilliseconds, greenwich: .purchaseDate, losAngeles: .purchaseDatePST)
    static let originalPurchase = DateKeys(
      milliseconds: .originalPurchaseDateMilliseconds, greenwich: .originalPurchaseDate,
      losAngeles: .originalPurchaseDatePST)
    static let expires = DateKeys(
      milliseconds: .expiresDate, greenwich: .expiresDateFormatted, losAngeles: .expiresDateFormattedPST)
  }

  /// Decodes the text of the inner property list.
  ///
  /// - Throws: ``MalformedReceipt`` for a malformed property list, or placed at a key: `invalidValue` for an invalid
  ///   date or number, and for two forms of a date that differ by more than a second; `outOfRange`.
  package init(decoding text: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    self.init()
    let list = try PropertyList(parsing: text, limits: limits, part: "purchase-info")
    // At most six, so a linear search is faster than hashing.
    var dates: [(key: Key, text: String)] = []
    var next = 0
    for entry in list.entries {
      let name = entry.key.utf8Span
      guard let index = Key.names.index(of: name.span, likely: next) else {
        additionalEntries.append(entry)
        continue
      }
      next = index + 1
      switch Key.all[index] {
      case .bundleId: bundleId = entry.value
      case .applicationVersion: applicationVersion = entry.value
      case .productId: productId = entry.value
      case .itemId: itemId = entry.value
      case .appItemId:
        // A text that is no number would satisfy every policy that names an app.
        _ = try Self.number(entry.value, of: .appItemId)
        appItemId = entry.value
      case .versionExternalIdentifier: versionExternalIdentifier = entry.value
      case .quantity: quantity = try Self.number(entry.value, of: .quantity)
      case .transactionId: transactionId = entry.value
      case .originalTransactionId: originalTransactionId = entry.value
      case .uniqueIdentifier: uniqueIdentifier = entry.value
      case .uniqueVendorIdentifier: uniqueVendorIdentifier = entry.value
      case .webOrderLineItemId: webOrderLineItemId = entry.value
      case .purchaseDateMilliseconds, .purchaseDate, .originalPurchaseDateMilliseconds, .originalPurchaseDate,
        .expiresDate, .expiresDateFormatted:
        dates.append((Key.all[index], entry.value))
      // The third form of a date is ignored; encoding derives it from the date again.
      case .purchaseDatePST, .originalPurchaseDatePST, .expiresDateFormattedPST: break
      }
    }
    purchaseDate = try Self.date(.purchase, in: dates)
    originalPurchaseDate = try Self.date(.originalPurchase, in: dates)
    expiresDate = try Self.date(.expires, in: dates)
  }

  private static func date(
    _ keys: DateKeys, in dates: [(key: Key, text: String)]
  ) throws(MalformedReceipt) -> Timestamp? {
    var exact: Timestamp?
    if let text = dates.first(where: { $0.key == keys.milliseconds })?.text {
      let milliseconds = try number(text, of: keys.milliseconds)
      guard milliseconds.magnitude <= UInt64(Timestamp.greatestMagnitude) else {
        throw MalformedReceipt(
          .outOfRange, at: .propertyListKey(keys.milliseconds.rawValue),
          "The date lies too far away to be one.")
      }
      exact = Timestamp(millisecondsSince1970: Double(milliseconds))
    }
    guard let text = dates.first(where: { $0.key == keys.greenwich })?.text else { return exact }
    guard let whole = PurchaseInfoDate.parse(text) else {
      throw MalformedReceipt(
        .invalidValue, at: .propertyListKey(keys.greenwich.rawValue),
        "The value is not a date such as 2012-12-02 07:15:54 Etc/GMT.")
    }
    guard let exact else { return whole }
    guard abs(exact.millisecondsSince1970 - whole.millisecondsSince1970) <= 1000 else {
      throw MalformedReceipt(
        .invalidValue, at: .propertyListKey(keys.greenwich.rawValue),
        "The date differs from that in \(keys.milliseconds.rawValue).")
    }
    return exact
  }

  private static func number(_ text: String, of key: Key) throws(MalformedReceipt) -> Int64 {
    let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
    guard !digits.isEmpty, digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
      throw MalformedReceipt(
        .invalidValue, at: .propertyListKey(key.rawValue), "The value is not a whole number.")
    }
    guard let number = Int64(text) else {
      throw MalformedReceipt(
        .outOfRange, at: .propertyListKey(key.rawValue), "The number does not fit in 64 bits.")
    }
    return number
  }

  /// Returns the text of the inner property list, with the App Store's keys and forms. Each date is written three
  /// times: in milliseconds, and to the second in GMT and in Los Angeles time. A date outside the years 0 to 9999 is
  /// written in milliseconds only.
  package func encoded() -> [UInt8] {
    var list = PropertyList()
    Self.write(originalPurchaseDate, as: .originalPurchase, to: &list)
    list[Key.uniqueIdentifier.rawValue] = uniqueIdentifier
    list[Key.originalTransactionId.rawValue] = originalTransactionId
    Self.write(expiresDate, as: .expires, to: &list)
    list[Key.transactionId.rawValue] = transactionId
    list[Key.quantity.rawValue] = quantity.map { String($0) }
    list[Key.webOrderLineItemId.rawValue] = webOrderLineItemId
    list[Key.uniqueVendorIdentifier.rawValue] = uniqueVendorIdentifier
    list[Key.itemId.rawValue] = itemId
    list[Key.appItemId.rawValue] = appItemId
    list[Key.versionExternalIdentifier.rawValue] = versionExternalIdentifier
    list[Key.applicationVersion.rawValue] = applicationVersion
    list[Key.productId.rawValue] = productId
    Self.write(purchaseDate, as: .purchase, to: &list)
    list[Key.bundleId.rawValue] = bundleId
    list.entries += additionalEntries
    return list.encoded()
  }

  private static func write(_ date: Timestamp?, as keys: DateKeys, to list: inout PropertyList) {
    guard let date else { return }
    list[keys.milliseconds.rawValue] = String(date.wholeMilliseconds)
    guard date.hasFourDigitYear else { return }
    list[keys.greenwich.rawValue] = PurchaseInfoDate.greenwich(date)
    list[keys.losAngeles.rawValue] = PurchaseInfoDate.losAngeles(date)
  }
}

extension TransactionReceiptPurchaseInfo: Encodable {
  /// Encodes the entries of the property list as an object.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws {
    try PropertyList(parsing: encoded()).jsonValue.encode(to: encoder)
  }
}
