// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront

/// A catalogue in our own format with all members.
enum CatalogSamples {
  static let json = """
    {
      "format": "receiptkit-catalog",
      "version": 1,
      "subscriptionGroups": [
        {"id": "news", "referenceName": "News", "localizations": [{"locale": "de", "title": "Nachrichten"}]}
      ],
      "products": [
        {
          "productIdentifier": "com.example.coins",
          "type": "Consumable",
          "price": "0.99",
          "currency": "EUR",
          "referenceName": "Coins",
          "localizations": [
            {"locale": "en_US", "title": "Coins", "description": "A purse of coins"},
            {"locale": "de", "title": "Münzen"}
          ],
          "isFamilyShareable": false,
          "isRestorable": false,
          "isForSale": true,
          "relatedProductIdentifiers": ["com.example.coins.phone"],
          "downloads": [
            {
              "contentIdentifier": "sounds",
              "contentVersion": "1.0",
              "url": "https://example.com/sounds.zip",
              "contentLength": 1048576,
              "sha256": "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
            }
          ]
        },
        {
          "productIdentifier": "com.example.news.monthly",
          "type": "Auto-Renewable Subscription",
          "price": "4.99",
          "currency": "USD",
          "subscription": {
            "groupIdentifier": "news",
            "level": 2,
            "period": "P1M",
            "offers": [
              {"type": "introductory", "paymentMode": "FREE_TRIAL", "period": "P1W", "periodCount": 1,
                "eligibility": ["new"]},
              {"type": "promotional", "identifier": "back", "paymentMode": "PAY_AS_YOU_GO", "period": "P1M",
                "periodCount": 3, "price": "1.99"},
              {"type": "offerCode", "identifier": "spring", "paymentMode": "PAY_UP_FRONT", "period": "P1Y",
                "price": "19.999", "codes": ["SPRING26", "SPRING27"], "eligibility": ["new", "expired"]},
              {"type": "winBack", "identifier": "again", "paymentMode": "FREE_TRIAL", "period": "P3D",
                "price": "0.00"}
            ]
          }
        }
      ]
    }
    """

  static var document: JSONValue {
    get throws { try JSONValue(parsing: Array(json.utf8)) }
  }

  static var catalog: ProductCatalog {
    get throws { try ProductCatalog(json: Array(json.utf8)) }
  }
}

/// The error of an operation that must fail.
func catalogError(_ body: () throws(CatalogError) -> Void) -> CatalogError? {
  do throws(CatalogError) {
    try body()
    return nil
  } catch {
    return error
  }
}
