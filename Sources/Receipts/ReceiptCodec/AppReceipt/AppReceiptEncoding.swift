// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AppReceiptPayload: Hashable {
  /// Returns the payload as the content of a receipt's container: a `SET OF` in DER.
  ///
  /// A decoded payload with no field set since returns the bytes that were decoded. Any other payload is encoded anew
  /// and sorted, with the attributes of unknown type that it was decoded with.
  package func encoded() -> [UInt8] { Array(encodedSet) }

  /// All attributes as they are encoded.
  ///
  /// For a decoded payload these are all attributes that were read, in order, including those of unknown type.
  package var attributes: [AppReceiptAttribute] { AppReceiptAttribute.all(in: encodedSet) }

  private var encodedSet: ArraySlice<UInt8> {
    if let source, !isChanged { return source }
    var list = AttributeListWriter()
    list.add(text: environment?.rawValue, as: AppAttributeType.environment)
    list.add(integer: appAppleId, as: AppAttributeType.appAppleId)
    if !bundleIdValue.isEmpty { list.add(octets: bundleIdValue, as: AppAttributeType.bundleId) }
    list.add(text: applicationVersion, as: AppAttributeType.applicationVersion)
    list.add(octets: opaqueValue, as: AppAttributeType.opaqueValue, version: 2)
    list.add(octets: sha1Hash, as: AppAttributeType.sha1Hash)
    list.add(date: transactionDate, as: AppAttributeType.transactionDate)
    list.add(integer: fulfillmentToolVersion, as: AppAttributeType.fulfillmentToolVersion)
    list.add(ageRating: ageRating)
    list.add(integer: developerId, as: AppAttributeType.developerId)
    list.add(date: receiptCreationDate, as: AppAttributeType.receiptCreationDate)
    list.add(integer: downloadId, as: AppAttributeType.downloadId)
    list.add(integer: installerVersion, as: AppAttributeType.installerVersion)
    for purchase in inAppPurchases {
      list.add(octets: Array(purchase.encodedSet), as: AppAttributeType.inAppPurchase)
    }
    list.add(date: originalPurchaseDate, as: AppAttributeType.originalPurchaseDate)
    list.add(text: originalApplicationVersion, as: AppAttributeType.originalApplicationVersion)
    list.add(date: expirationDate, as: AppAttributeType.expirationDate)
    list.addUnknown(from: source, knowing: Self.typesWithField)
    list.add(additionalAttributes)
    return list.encodedSet()[...]
  }

  private static let typesWithField: Set<Int> = [
    AppAttributeType.environment, AppAttributeType.appAppleId, AppAttributeType.bundleId,
    AppAttributeType.applicationVersion, AppAttributeType.opaqueValue, AppAttributeType.sha1Hash,
    AppAttributeType.transactionDate, AppAttributeType.fulfillmentToolVersion, AppAttributeType.ageRating,
    AppAttributeType.developerId, AppAttributeType.receiptCreationDate, AppAttributeType.downloadId,
    AppAttributeType.installerVersion, AppAttributeType.inAppPurchase,
    AppAttributeType.originalPurchaseDate, AppAttributeType.originalApplicationVersion,
    AppAttributeType.expirationDate,
  ]

  /// Returns `true` if both payloads encode to the same bytes.
  public static func == (lhs: AppReceiptPayload, rhs: AppReceiptPayload) -> Bool {
    lhs.encodedSet == rhs.encodedSet
  }

  /// Hashes the encoded bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(encodedSet) }
}

extension InAppPurchase: Hashable {
  /// All attributes as they are encoded.
  ///
  /// For a decoded purchase these are all attributes that were read, in order, including those of unknown type.
  package var attributes: [AppReceiptAttribute] { AppReceiptAttribute.all(in: encodedSet) }

  /// The set of attributes in DER: the decoded bytes if no field was set since, or else a new encoding.
  fileprivate var encodedSet: ArraySlice<UInt8> {
    if let source, !isChanged { return source }
    var list = AttributeListWriter()
    list.add(integer: quantity, as: InAppAttributeType.quantity)
    list.add(text: productId, as: InAppAttributeType.productId)
    list.add(text: transactionId, as: InAppAttributeType.transactionId)
    list.add(date: purchaseDate, as: InAppAttributeType.purchaseDate)
    list.add(text: originalTransactionId, as: InAppAttributeType.originalTransactionId)
    list.add(date: originalPurchaseDate, as: InAppAttributeType.originalPurchaseDate)
    list.add(integer: productType?.rawValue, as: InAppAttributeType.productType)
    list.add(date: expiresDate, as: InAppAttributeType.expiresDate)
    list.add(integer: webOrderLineItemId, as: InAppAttributeType.webOrderLineItemId)
    list.add(date: cancellationDate, as: InAppAttributeType.cancellationDate)
    list.add(integer: isTrialPeriod.map { $0 ? 1 : 0 }, as: InAppAttributeType.isTrialPeriod)
    list.add(integer: isInIntroOfferPeriod.map { $0 ? 1 : 0 }, as: InAppAttributeType.isInIntroOfferPeriod)
    list.add(text: promotionalOfferId, as: InAppAttributeType.promotionalOfferId)
    list.addUnknown(from: source, knowing: Self.typesWithField)
    list.add(additionalAttributes)
    return list.encodedSet()[...]
  }

  private static let typesWithField: Set<Int> = [
    InAppAttributeType.quantity, InAppAttributeType.productId, InAppAttributeType.transactionId,
    InAppAttributeType.purchaseDate, InAppAttributeType.originalTransactionId,
    InAppAttributeType.originalPurchaseDate, InAppAttributeType.productType, InAppAttributeType.expiresDate,
    InAppAttributeType.webOrderLineItemId, InAppAttributeType.cancellationDate,
    InAppAttributeType.isTrialPeriod, InAppAttributeType.isInIntroOfferPeriod,
    InAppAttributeType.promotionalOfferId,
  ]

  /// Returns `true` if both purchases encode to the same bytes.
  public static func == (lhs: InAppPurchase, rhs: InAppPurchase) -> Bool {
    lhs.encodedSet == rhs.encodedSet
  }

  /// Hashes the encoded bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(encodedSet) }
}

/// Collects attributes and encodes them as a sorted set.
struct AttributeListWriter {
  private var attributes: [[UInt8]] = []

  mutating func add(octets value: [UInt8]?, as type: Int, version: Int = 1) {
    guard let value else { return }
    add([AppReceiptAttribute(type: type, version: version, value: value[...])])
  }

  mutating func add(text: String?, as type: Int) { add(octets: text.map(Self.value(text:)), as: type) }

  /// Adds the age rating, the only text that the App Store writes as an IA5String.
  mutating func add(ageRating: String?) {
    guard let ageRating, ageRating.utf8.allSatisfy({ $0 < 0x80 }) else {
      add(text: ageRating, as: AppAttributeType.ageRating)
      return
    }
    var writer = ASN1Writer()
    writer.write(ia5String: ageRating)
    add(octets: writer.bytes, as: AppAttributeType.ageRating)
  }

  mutating func add(integer: Int64?, as type: Int) {
    guard let integer else { return }
    var writer = ASN1Writer()
    writer.write(integer: integer)
    add(octets: writer.bytes, as: type)
  }

  mutating func add(date: Timestamp?, as type: Int) {
    guard let date, date.hasFourDigitYear else { return }
    var writer = ASN1Writer()
    writer.write(ia5String: date.wholeMilliseconds % 1000 == 0 ? date.iso8601Seconds : date.iso8601)
    add(octets: writer.bytes, as: type)
  }

  mutating func add(_ more: [AppReceiptAttribute]) {
    for attribute in more { attributes.append(attribute.encoded()) }
  }

  /// Adds the attributes of a decoded set whose type has no field.
  mutating func addUnknown(from source: ArraySlice<UInt8>?, knowing types: Set<Int>) {
    guard let source else { return }
    add(AppReceiptAttribute.all(in: source).filter { !types.contains($0.type) })
  }

  func encodedSet() -> [UInt8] {
    var writer = ASN1Writer()
    writer.writeSet(of: attributes)
    return writer.bytes
  }

  static func value(text: String) -> [UInt8] {
    var writer = ASN1Writer()
    writer.write(utf8String: text)
    return writer.bytes
  }
}

extension Timestamp {
  /// Indicates whether the year is between 0 and 9999, the range of a date in a receipt.
  var hasFourDigitYear: Bool {
    millisecondsSince1970 >= -62_167_219_200_000 && millisecondsSince1970 < 253_402_300_800_000
  }
}
