// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension AppReceiptAttribute {
  /// The value as a JSON member: `value` for text or a number, `hex` for anything else.
  package var jsonMember: JSONMember {
    let octets = Array(value)
    var reader = ReceiptASN1Reader(0..<octets.count, part: "attribute")
    let hexadecimal = JSONMember(name: "hex", value: .string(Hexadecimal.encode(octets)))
    guard !isOpaque else { return hexadecimal }
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
}

extension AppReceiptPayload: Encodable {
  /// The attributes as a JSON object, with the purchases as `inApp`. An attribute is named by its field, or as
  /// `attribute-1717` if its type is unknown. Its value is a number or text, or else hexadecimal.
  package var jsonValue: JSONValue {
    let purchases = inAppPurchases.map { JSONValue.object($0.attributes.map(Self.member)) }
    return .object(
      attributes.filter { $0.type != InAppPurchase.attributeType }.map(Self.member)
        + [JSONMember(name: "inApp", value: .array(purchases))])
  }

  private static func member(_ attribute: AppReceiptAttribute) -> JSONMember {
    JSONMember(
      name: attribute.name ?? "attribute-\(attribute.type)", value: attribute.jsonMember.value)
  }

  /// Encodes all attributes, with the purchases as `inApp`.
  ///
  /// An attribute is named by its field, or as `attribute-1717` if its type is unknown. Its value is a number or text,
  /// or else hexadecimal.
  ///
  /// - Throws: The encoder's error.
  public func encode(to encoder: any Encoder) throws { try jsonValue.encode(to: encoder) }
}
