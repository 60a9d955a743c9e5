// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// The body of a request of cordova-plugin-purchase.
  struct CordovaRequest: Sendable, Hashable {
    enum Purchase: Sendable, Hashable {
      /// An app receipt in base64, and the transaction that it should have; the receipt may be missing.
      case appReceipt(base64: String?, transactionId: String?)
      /// A compact JWS with a signed transaction.
      case signedTransaction(String)
      /// What Google Play signed, as a text with a signature, and the purchase token.
      case googlePlay(data: String?, signature: String?, purchaseToken: String?)
      /// A purchase of a store that cannot be judged here.
      case other(String)
    }

    /// The product, or the app, which the answer repeats; `nil` if the client did not know it.
    let id: String?
    /// The type of the product.
    let productType: String
    /// `transaction.type`, which the answer repeats.
    let type: String
    let purchase: Purchase
    /// `true` for version 12 of the plugin and earlier, which learns of an expiry only from a failure.
    let isOldClient: Bool

    /// Reads a body; `nil` if it is not of the protocol.
    init?(_ body: [UInt8]) {
      guard let json = try? JSONValue(parsing: body), let id = json["id"]?.string,
        let productType = json["type"]?.string, let transaction = json["transaction"],
        let type = transaction["type"]?.string, !id.isEmpty || type == "apple-sk2"
      else { return nil }
      // On old systems the plugin does not know the app in time.
      self.id = id.isEmpty ? nil : id
      self.productType = productType
      self.type = type
      func text(_ name: String) -> String? {
        transaction[name]?.string.flatMap { $0.isEmpty ? nil : $0 }
      }
      let contents = ["appStoreReceipt", "jwsRepresentation", "receipt", "signature", "purchaseToken"]
      guard
        contents.allSatisfy({
          transaction[$0] == nil || transaction[$0]?.string != nil || transaction[$0] == .null
        })
      else { return nil }
      switch type {
      case "ios-appstore":
        // The plugin makes a transaction for the app, which the App Store does not know.
        let transactionId = text("id").flatMap { id in
          id == "appstore.application" || id.hasPrefix("virtual.") ? nil : id
        }
        purchase = .appReceipt(base64: text("appStoreReceipt"), transactionId: transactionId)
      case "apple-sk2":
        guard let jws = text("jwsRepresentation") else { return nil }
        purchase = .signedTransaction(jws)
      case "android-playstore":
        let (data, signature, token) = (text("receipt"), text("signature"), text("purchaseToken"))
        guard token != nil || data != nil && signature != nil else { return nil }
        purchase = .googlePlay(data: data, signature: signature, purchaseToken: token)
      default: purchase = .other(type)
      }
      let plugin = json["device"]?["plugin"]?.string
      let major = plugin.flatMap { $0.split(separator: "/").last?.split(separator: ".").first }.flatMap {
        Int($0)
      }
      // Version 11 and earlier send the whole product.
      isOldClient = major.map { $0 < 13 } ?? (json["alias"] != nil)
    }
  }

  /// A failure, with a code that the plugin knows.
  struct CordovaFailure: Error, Hashable {
    let code: Int64
    /// The HTTP status that describes the failure; that of the response is 200.
    let status: Int64
    let message: String

    static func invalidPayload(_ message: String) -> Self {
      Self(code: 6_778_001, status: 400, message: message)
    }
    static func unreachable(_ message: String) -> Self {
      Self(code: 6_778_002, status: 503, message: message)
    }
    static func expired(_ message: String) -> Self { Self(code: 6_778_003, status: 419, message: message) }
    static func consumed(_ message: String) -> Self { Self(code: 6_778_004, status: 400, message: message) }
    static func internalError(_ message: String) -> Self {
      Self(code: 6_778_005, status: 500, message: message)
    }
    static func moreDataNeeded(_ message: String) -> Self {
      Self(code: 6_778_006, status: 400, message: message)
    }

    /// The refusal of a receipt. Apps show the message to customers, whom the reason itself tells nothing.
    static func refused(_ reason: Reason) -> Self {
      invalidPayload("The purchase is not genuine, or not of this app (\(reason.code.rawValue)).")
    }

    /// The answer. Version 11 and earlier read the code and the message in `data`.
    var json: JSONWriter {
      var json = JSONWriter()
      json.beginObject()
      json.member("ok", false)
      json.member("status", status)
      json.member("code", code)
      json.member("message", message)
      json.name("data")
      json.beginObject()
      json.member("latest_receipt", true)
      json.member("code", code)
      json.name("error")
      json.beginObject()
      json.member("message", message)
      json.endObject()
      json.endObject()
      json.endObject()
      return json
    }
  }
#endif
