// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptVerification

/// The whole payload of a valid receipt, in JSON.
enum PayloadReport {
  /// Of a JWS, and of a purchase of Google Play or Huawei, the very bytes that were signed. Other formats are no JSON: of
  /// an app receipt each attribute by its name, those without one as `attribute-1717`, as number, as text, otherwise in
  /// hexadecimal; of a transaction receipt the entries of its purchase information; of a licence its fields.
  ///
  /// - Throws: Where the content cannot be read again. It never is empty instead.
  static func json(of receipt: VerifiedReceipt) throws -> [UInt8] {
    switch receipt.content {
    case .jws:
      // RFC 7515 section 5.1: what is signed is header and payload, each in base64url.
      let parts = receipt.signedContent.split(separator: UInt8(ascii: "."))
      guard parts.count == 2 else { throw Unreadable(kind: receipt.kind) }
      return try Base64URL.decode(Array(parts[1]))
    case .appReceipt(let payload): return object(of: payload).encoded()
    case .transactionReceipt:
      // The first byte is the version of the signature.
      let list = try PropertyList(parsing: Array(receipt.signedContent.dropFirst()))
      let members = list.entries.map { JSONMember(name: $0.key, value: .string($0.value)) }
      return JSONValue.object(members).encoded()
    case .detached(let content):
      let data = Array(receipt.signedContent)
      guard case .googlePlayLicense = content else { return data }
      return Inspection.value(of: content, data).encoded()
    }
  }

  /// The payload on one line: line feeds in it can only be white space between the values.
  static func line(of receipt: VerifiedReceipt) throws -> [UInt8] {
    try json(of: receipt).map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 } + [0x0A]
  }

  private static func object(of payload: AppReceiptPayload) -> JSONValue {
    let purchases = payload.inAppPurchases.map { JSONValue.object($0.attributes.map(member)) }
    return .object(
      // Type 17 is of the purchases.
      payload.attributes.filter { $0.type != 17 }.map(member)
        + [JSONMember(name: "inApp", value: .array(purchases))])
  }

  private static func member(_ attribute: AppReceiptAttribute) -> JSONMember {
    let shown = AttributeReport.value(attribute)
    let name = shown["name"]?.string.flatMap { $0 == "unknown" ? nil : $0 } ?? "attribute-\(attribute.type)"
    return JSONMember(name: name, value: shown["value"] ?? shown["hex"] ?? .null)
  }

  private struct Unreadable: Error {
    let kind: ReceiptKind
  }
}
