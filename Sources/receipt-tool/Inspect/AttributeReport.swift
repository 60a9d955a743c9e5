// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto

/// Shows an attribute of an app receipt: its number, its name if known, and its value as text or number, otherwise in
/// hexadecimal.
enum AttributeReport {
  /// Whether a report is one of an attribute, a signed attribute or an extension: they have a type and a name.
  static func isAttribute(_ members: [JSONMember]) -> Bool {
    members.first?.name == "type" && members.dropFirst().first?.name == "name"
  }

  static func value(_ attribute: AppReceiptAttribute) -> JSONValue {
    var members = [JSONMember(name: "type", value: .integer(Int64(attribute.type)))]
    members.append(JSONMember(name: "name", value: .string(names[attribute.type] ?? "unknown")))
    if attribute.version != 1 {
      members.append(JSONMember(name: "version", value: .integer(Int64(attribute.version))))
    }
    members.append(decoded(attribute))
    return .object(members)
  }

  private static func decoded(_ attribute: AppReceiptAttribute) -> JSONMember {
    let octets = Array(attribute.value)
    var reader = ReceiptASN1Reader(0..<octets.count, part: "attribute")
    let hexadecimal = JSONMember(name: "hex", value: .string(Hexadecimal.encode(octets)))
    // Opaque bytes may look like a value by chance.
    guard ![4, 5, 6, 7].contains(attribute.type) else { return hexadecimal }
    do throws(MalformedReceipt) {
      switch try reader.nextTag(octets.span) {
      case .some(.integer):
        let number = try reader.readInt64(octets.span)
        try reader.requireEnd(octets.span)
        return JSONMember(name: "value", value: .integer(number))
      case .some(.utf8String), .some(.ia5String):
        let tag = try reader.nextTag(octets.span) ?? .utf8String
        let contents = try reader.read(tag, octets.span)
        try reader.requireEnd(octets.span)
        guard let text = String(validating: octets[contents], as: UTF8.self) else { return hexadecimal }
        return JSONMember(name: "value", value: .string(text))
      default: return hexadecimal
      }
    } catch {
      return hexadecimal
    }
  }

  private static let names = [
    0: "environment", 1: "appAppleId", 2: "bundleId", 3: "applicationVersion", 4: "opaqueValue",
    5: "sha1Hash", 8: "transactionDate", 9: "fulfillmentToolVersion", 10: "ageRating", 11: "developerId",
    12: "receiptCreationDate", 15: "downloadId", 16: "installerVersion", 18: "originalPurchaseDate",
    19: "originalApplicationVersion", 21: "expirationDate", 1701: "quantity", 1702: "productId",
    1703: "transactionId", 1704: "purchaseDate", 1705: "originalTransactionId",
    1706: "originalPurchaseDate", 1707: "productType", 1708: "expiresDate", 1711: "webOrderLineItemId",
    1712: "cancellationDate", 1713: "isTrialPeriod", 1719: "isInIntroOfferPeriod",
    1721: "promotionalOfferId",
  ]
}
