// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AppReceiptPayload {
  /// The name of the payload in errors.
  static let part: StaticString = "app receipt payload"

  /// Creates a payload without attributes, to be signed.
  ///
  /// A receipt cannot encode a date outside the years 0 to 9999, so such a date is omitted.
  public init() { self.init(source: nil) }

  /// Decodes the content of a receipt's container.
  ///
  /// ```
  /// Payload ::= SET OF ReceiptAttribute
  /// ```
  ///
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
    var seen = SeenAttributeTypes(base: Self.lowestAttributeType)
    var budget = AttributeBudget(limits)
    var likely = InAppPurchase.LikelyTexts()
    while try !set.isAtEnd(bytes) {
      let attribute = try RawAttribute(reading: &set, bytes)
      try budget.takeOne()
      guard attribute.type == InAppPurchase.attributeType else {
        guard seen.insert(attribute.type) else {
          throw attribute.failure(.duplicate, "The attribute occurs twice.")
        }
        try setField(attribute, bytes)
        continue
      }
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
    }
    try top.leave(set, bytes)
    try top.requireEnd(bytes)
    isChanged = false
  }

  /// Returns the payload as the content of a receipt's container: a `SET OF` in DER. A decoded payload with no field
  /// set since returns the bytes that were decoded. Any other payload is encoded anew and sorted, with the attributes
  /// of unknown type that it was decoded with.
  package func encoded() -> [UInt8] { Array(encodedSet) }

  /// The in-app purchases as transactions, the model that all receipt formats share.
  package var transactions: [Transaction] { inAppPurchases.map(\.transaction) }
}
