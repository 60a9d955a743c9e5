// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AppReceiptPayload {
  /// The name of the payload in errors.
  static let part: StaticString = "app receipt payload"

  /// Decodes the content of a receipt's container.
  ///
  /// ```
  /// Payload ::= SET OF ReceiptAttribute
  /// ```
  ///
  /// - Parameters:
  ///   - content: ``CMSSignedData/content``.
  ///   - limits: The limits on the number of attributes and on nesting.
  /// - Throws: ``MalformedReceipt``, placed at the attribute, or at an offset into the content if the set itself is
  ///   malformed. The codes are `duplicate` if an attribute repeats (only type 17 may); `wrongType`, `trailingData`,
  ///   `invalidUTF8`, `invalidValue` or `outOfRange` for a value; `tooLarge` if there are too many attributes; and
  ///   `unsupported` if the content is wrapped in another octet string.
  package init(
    decoding content: ArraySlice<UInt8>, limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) {
    let bytes = content.span
    var top = ReceiptASN1Reader(
      0..<bytes.count, maximumDepth: limits.maximumDepth, part: Self.part)
    if bytes.count > 0, bytes[0] == 0x04 || bytes[0] == 0x24 {
      throw top.failure(
        .unsupported, at: 0, "The content is wrapped in one more OCTET STRING; the attributes must be in it.")
    }
    var set = try top.enter(.set, bytes)

    source = content
    var seen = SeenAttributeTypes(base: 0)
    var budget = AttributeBudget(limits)
    var likely = LikelyTexts()
    while try !set.isAtEnd(bytes) {
      let attribute = try RawAttribute(reading: &set, bytes)
      try budget.takeOne()
      guard attribute.type == AppAttributeType.inAppPurchase || seen.insert(attribute.type) else {
        throw attribute.failure(.duplicate, "The attribute occurs twice.")
      }
      switch attribute.type {
      case AppAttributeType.environment:
        environment = ReceiptEnvironment(rawValue: try attribute.text(bytes))
      case AppAttributeType.appAppleId: appAppleId = try attribute.int64(bytes)
      case AppAttributeType.bundleId:
        bundleId = try attribute.text(bytes)
        bundleIdValue = attribute.octets(bytes)
      case AppAttributeType.applicationVersion: applicationVersion = try attribute.text(bytes)
      case AppAttributeType.opaqueValue: opaqueValue = attribute.octets(bytes)
      case AppAttributeType.sha1Hash: sha1Hash = attribute.octets(bytes)
      case AppAttributeType.transactionDate: transactionDate = try attribute.date(bytes)
      case AppAttributeType.fulfillmentToolVersion: fulfillmentToolVersion = try attribute.int64(bytes)
      case AppAttributeType.ageRating: ageRating = try attribute.text(bytes)
      case AppAttributeType.developerId: developerId = try attribute.int64(bytes)
      case AppAttributeType.receiptCreationDate: receiptCreationDate = try attribute.date(bytes)
      case AppAttributeType.downloadId: downloadId = try attribute.int64(bytes)
      case AppAttributeType.installerVersion: installerVersion = try attribute.int64(bytes)
      case AppAttributeType.inAppPurchase:
        if inAppPurchases.isEmpty, !attribute.value.isEmpty {
          // The other purchases are probably as long as the first. The capacity is bounded because the lengths are not
          // verified.
          inAppPurchases.reserveCapacity(min(1 + (set.end - set.position) / attribute.value.count, 512))
        }
        let index = inAppPurchases.count
        let start = content.startIndex
        let range = (start + attribute.value.lowerBound)..<(start + attribute.value.upperBound)
        inAppPurchases.append(InAppPurchase(source: content[range]))
        try inAppPurchases[index].decode(
          attribute.value, likely: &likely, at: index, within: set, &budget, bytes)
      case AppAttributeType.originalPurchaseDate: originalPurchaseDate = try attribute.date(bytes)
      case AppAttributeType.originalApplicationVersion:
        originalApplicationVersion = try attribute.text(bytes)
      case AppAttributeType.expirationDate: expirationDate = try attribute.date(bytes)
      default: break
      }
    }
    try top.leave(set, bytes)
    try top.requireEnd(bytes)
  }
}
