// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A catalogue in our own format, which `Catalog.md` describes.
struct CatalogDocument: JSONObject {
  static let format = "receiptkit-catalog"
  static let version: Int64 = 1

  var format = Self.format
  var version = Self.version
  var subscriptionGroups: [Group]?
  var products: [Product] = []
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case format, version, subscriptionGroups, products }
  static let fieldNames = JSONFieldNames<Field>(required: [.format, .version, .products])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .format: try coder.code(&format)
    case .version: try coder.code(&version)
    case .subscriptionGroups: try coder.code(&subscriptionGroups)
    case .products: try coder.code(&products)
    }
  }

  struct Group: JSONObject {
    var id = ""
    var referenceName: String?
    var localizations: [Localization]?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable { case id, referenceName, localizations }
    static let fieldNames = JSONFieldNames<Field>(required: [.id])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .id: try coder.code(&id)
      case .referenceName: try coder.code(&referenceName)
      case .localizations: try coder.code(&localizations)
      }
    }
  }

  struct Localization: JSONObject {
    var locale = ""
    var title = ""
    var description: String?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable { case locale, title, description }
    static let fieldNames = JSONFieldNames<Field>(required: [.locale, .title])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .locale: try coder.code(&locale)
      case .title: try coder.code(&title)
      case .description: try coder.code(&description)
      }
    }
  }

  struct Product: JSONObject {
    var productIdentifier = ""
    var type = ""
    var price = ""
    var currency = ""
    var referenceName: String?
    var localizations: [Localization]?
    var isFamilyShareable: Bool?
    var isRestorable: Bool?
    var isForSale: Bool?
    var relatedProductIdentifiers: [String]?
    var downloads: [Download]?
    var subscription: Subscription?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable {
      case productIdentifier, type, price, currency, referenceName, localizations, isFamilyShareable,
        isRestorable, isForSale, relatedProductIdentifiers, downloads, subscription
    }
    static let fieldNames = JSONFieldNames<Field>(required: [.productIdentifier, .type, .price, .currency])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .productIdentifier: try coder.code(&productIdentifier)
      case .type: try coder.code(&type)
      case .price: try coder.code(&price)
      case .currency: try coder.code(&currency)
      case .referenceName: try coder.code(&referenceName)
      case .localizations: try coder.code(&localizations)
      case .isFamilyShareable: try coder.code(&isFamilyShareable)
      case .isRestorable: try coder.code(&isRestorable)
      case .isForSale: try coder.code(&isForSale)
      case .relatedProductIdentifiers: try coder.code(&relatedProductIdentifiers)
      case .downloads: try coder.code(&downloads)
      case .subscription: try coder.code(&subscription)
      }
    }
  }

  struct Download: JSONObject {
    var contentIdentifier = ""
    var contentVersion: String?
    var url = ""
    var contentLength: Int64 = 0
    var sha256 = ""
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable { case contentIdentifier, contentVersion, url, contentLength, sha256 }
    static let fieldNames = JSONFieldNames<Field>(required: [
      .contentIdentifier, .url, .contentLength, .sha256,
    ])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .contentIdentifier: try coder.code(&contentIdentifier)
      case .contentVersion: try coder.code(&contentVersion)
      case .url: try coder.code(&url)
      case .contentLength: try coder.code(&contentLength)
      case .sha256: try coder.code(&sha256)
      }
    }
  }

  struct Subscription: JSONObject {
    var groupIdentifier = ""
    var level: Int64?
    var period = ""
    var offers: [Offer]?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable { case groupIdentifier, level, period, offers }
    static let fieldNames = JSONFieldNames<Field>(required: [.groupIdentifier, .period])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .groupIdentifier: try coder.code(&groupIdentifier)
      case .level: try coder.code(&level)
      case .period: try coder.code(&period)
      case .offers: try coder.code(&offers)
      }
    }
  }

  struct Offer: JSONObject {
    var type = ""
    var identifier: String?
    var paymentMode = ""
    var period = ""
    var periodCount: Int64?
    var price: String?
    var codes: [String]?
    var eligibility: [String]?
    var unknownFields: [JSONMember] = []

    enum Field: String, CaseIterable {
      case type, identifier, paymentMode, period, periodCount, price, codes, eligibility
    }
    static let fieldNames = JSONFieldNames<Field>(required: [.type, .paymentMode, .period])
    mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
      switch field {
      case .type: try coder.code(&type)
      case .identifier: try coder.code(&identifier)
      case .paymentMode: try coder.code(&paymentMode)
      case .period: try coder.code(&period)
      case .periodCount: try coder.code(&periodCount)
      case .price: try coder.code(&price)
      case .codes: try coder.code(&codes)
      case .eligibility: try coder.code(&eligibility)
      }
    }
  }
}
