// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// One attribute of an app receipt or of an in-app purchase in it.
///
/// ```
/// ReceiptAttribute ::= SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }
/// ```
package struct AppReceiptAttribute: Sendable, Hashable {
  /// The type of the attribute, such as 2 for the bundle identifier.
  package var type: Int
  /// The version of the attribute: 1, except 2 for type 4 from the App Store.
  package var version: Int
  /// The octets of the value. For most types they are an ASN.1 value in DER.
  package var value: ArraySlice<UInt8>

  /// Creates an attribute.
  package init(type: Int, version: Int = 1, value: ArraySlice<UInt8>) {
    self.type = type
    self.version = version
    self.value = value
  }

  /// Returns the attribute in DER.
  func encoded() -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(.sequence) { sequence in
      sequence.write(integer: Int64(type))
      sequence.write(integer: Int64(version))
      sequence.write(octetString: value)
    }
    return writer.bytes
  }

  /// Returns the attributes of a set that has already been decoded.
  static func all(in set: ArraySlice<UInt8>) -> [AppReceiptAttribute] {
    let bytes = set.span
    var attributes: [AppReceiptAttribute] = []
    var top = ReceiptASN1Reader(0..<bytes.count, part: AppReceiptPayload.part)
    do throws(MalformedReceipt) {
      var reader = try top.enter(.set, bytes)
      while try !reader.isAtEnd(bytes) {
        let raw = try RawAttribute(reading: &reader, bytes)
        let range = (set.startIndex + raw.value.lowerBound)..<(set.startIndex + raw.value.upperBound)
        attributes.append(AppReceiptAttribute(type: raw.type, version: raw.version, value: set[range]))
      }
      try top.leave(reader, bytes)
    } catch {
      // Not reached: decoding has rejected a malformed set.
    }
    return attributes
  }
}

/// The attribute types of an app receipt that this module interprets. Apple does not document those marked †.
enum AppAttributeType {
  /// † UTF8String.
  static let environment = 0
  /// † INTEGER.
  static let appAppleId = 1
  /// UTF8String.
  static let bundleId = 2
  /// UTF8String.
  static let applicationVersion = 3
  /// Octets.
  static let opaqueValue = 4
  /// Octets.
  static let sha1Hash = 5
  /// † Date.
  static let transactionDate = 8
  /// † INTEGER.
  static let fulfillmentToolVersion = 9
  /// † IA5String.
  static let ageRating = 10
  /// † INTEGER.
  static let developerId = 11
  /// Date.
  static let receiptCreationDate = 12
  /// † INTEGER.
  static let downloadId = 15
  /// † INTEGER.
  static let installerVersion = 16
  /// SET of attributes; repeats.
  static let inAppPurchase = 17
  /// † Date.
  static let originalPurchaseDate = 18
  /// UTF8String.
  static let originalApplicationVersion = 19
  /// Date.
  static let expirationDate = 21
}

/// The attribute types of an in-app purchase that this module interprets. Apple does not document those marked †.
enum InAppAttributeType {
  /// INTEGER.
  static let quantity = 1701
  /// UTF8String.
  static let productId = 1702
  /// UTF8String.
  static let transactionId = 1703
  /// Date.
  static let purchaseDate = 1704
  /// UTF8String.
  static let originalTransactionId = 1705
  /// Date.
  static let originalPurchaseDate = 1706
  /// † INTEGER.
  static let productType = 1707
  /// Date.
  static let expiresDate = 1708
  /// INTEGER.
  static let webOrderLineItemId = 1711
  /// Date.
  static let cancellationDate = 1712
  /// † INTEGER, 0 or 1.
  static let isTrialPeriod = 1713
  /// INTEGER, 0 or 1.
  static let isInIntroOfferPeriod = 1719
  /// † UTF8String.
  static let promotionalOfferId = 1721
}
