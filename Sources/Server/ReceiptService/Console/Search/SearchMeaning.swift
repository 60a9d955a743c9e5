// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCrypto

  /// A kind of thing that the text in the search field may name.
  enum SearchMeaning: String, CaseIterable, Sendable {
    case receipt
    case entry
    case transaction
    case appStoreOrder = "app-store-order"
    case googlePlayOrder = "google-play-order"
    case purchaseToken = "purchase-token"
    case customer
    case digest
    case grant
    case product

    /// The name with its article.
    var name: String {
      switch self {
      case .receipt: "a receipt"
      case .entry: "the number of an audit entry"
      case .transaction: "the identifier of a transaction"
      case .appStoreOrder: "an order of the App Store"
      case .googlePlayOrder: "an order of Google Play"
      case .purchaseToken: "a purchase token"
      case .customer: "the identifier of a customer"
      case .digest: "the SHA-256 of a receipt"
      case .grant: "the identifier of a grant"
      case .product: "the identifier of a product"
      }
    }

    /// The maximum number of bytes of a text that is not taken for a receipt.
    ///
    /// Purchase tokens of Google Play have about 150. A longer text does not come into an address.
    static let maximumByteCount = 512

    /// Lists the meanings that a text, without surrounding white space, can have by its form, the likeliest first.
    static func list(of text: String) -> [SearchMeaning] {
      if isReceipt(text) { return [.receipt] }
      let bytes = Array(text.utf8)
      let isNumber = bytes.allSatisfy(isDigit)
      if isNumber {
        // The App Store's identifiers have 13 digits and more; those of StoreKit tests begin at 0.
        return bytes.count <= 10 ? [.entry, .transaction, .customer] : [.transaction, .customer]
      }
      if text.hasPrefix("#"), bytes.count <= 20, bytes.dropFirst().allSatisfy(isDigit) {
        return [.entry, .customer]
      }
      if text.hasPrefix("GPA.") { return [.googlePlayOrder, .customer] }
      if SHA256Digest(hexadecimal: text) != nil { return [.digest, .customer, .purchaseToken] }
      if text.hasPrefix("gr_") { return [.grant, .customer] }
      if text.hasPrefix("M"), 8...16 ~= bytes.count, bytes.dropFirst().allSatisfy(isCapitalOrDigit) {
        return [.appStoreOrder, .customer]
      }
      if bytes.count >= 60 { return [.purchaseToken, .customer] }
      return text.contains(".") && bytes.allSatisfy(isOfName)
        ? [.product, .customer, .purchaseToken, .transaction]
        : [.customer, .transaction, .purchaseToken, .product]
    }

    /// Returns `true` if a text has the beginning, the length or the line breaks of a receipt, which then is verified.
    private static func isReceipt(_ text: String) -> Bool {
      let bytes = text.utf8
      // A JSON object or a property list; a JWS; base64 of DER, of a property list, and of JSON.
      return text.hasPrefix("{") || text.hasPrefix("\"") || text.hasPrefix("eyJ")
        || bytes.count > 200 && (text.hasPrefix("MI") || text.hasPrefix("ew"))
        || bytes.count > maximumByteCount || bytes.contains { $0 < 0x20 }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    /// Returns `true` for the letters, digits and signs in the identifiers of products.
    private static func isOfName(_ byte: UInt8) -> Bool {
      isCapitalOrDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
        || [0x2D, 0x2E, 0x5F].contains(byte)
    }

    private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
      isDigit(byte) || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
    }
  }
#endif
