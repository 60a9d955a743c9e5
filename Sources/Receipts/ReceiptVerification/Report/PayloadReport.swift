// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

extension VerifiedReceipt {
  /// The whole payload, in JSON. Of a JWS, and of a purchase of Google Play or Huawei, these are the very bytes that were
  /// signed. Other formats are no JSON: of an app receipt each attribute by its name, those without one as
  /// `attribute-1717`, as number, as text, otherwise in hexadecimal; of a transaction receipt the entries of its purchase
  /// information; of a licence its fields.
  ///
  /// - Throws: Where the content cannot be read again. It never is empty instead.
  package func payloadJSON() throws -> [UInt8] {
    switch content {
    case .jws:
      // RFC 7515 section 5.1: what is signed is header and payload, each in base64url.
      let signed = signedContent.span
      guard let dot = ByteSearch.firstIndex(of: UInt8(ascii: "."), in: signed) else {
        throw UnreadablePayload(kind: kind)
      }
      // A second dot is no symbol of base64url.
      return try Base64URL.decode(signed.extracting((dot + 1)...))
    case .appReceipt(let payload): return payload.jsonValue.encoded()
    case .transactionReceipt:
      // The first byte is the version of the signature.
      return try PropertyList(parsing: Array(signedContent.dropFirst())).jsonValue.encoded()
    case .detached(.googlePlayLicense(let license)): return license.jsonValue.encoded()
    case .detached: return Array(signedContent)
    }
  }

  private struct UnreadablePayload: Error {
    let kind: ReceiptKind
  }
}

extension VerifiedReceipt.Content: Encodable {
  /// Encodes the payload by the store's names, as `receipt-tool verify --payload` prints it; members that mean nothing to
  /// this version among them.
  ///
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .jws(let payload): try payload.encode(to: encoder)
    case .appReceipt(let payload): try payload.encode(to: encoder)
    case .transactionReceipt(let purchaseInfo): try purchaseInfo.encode(to: encoder)
    case .detached(let content): try content.encode(to: encoder)
    }
  }
}
