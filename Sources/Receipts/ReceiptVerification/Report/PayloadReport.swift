// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec

extension VerifiedReceipt {
  /// Returns the whole payload in JSON. For a JWS, and for a purchase of Google Play or Huawei, the result is exactly
  /// the bytes that were signed. Other formats are not JSON and are converted:
  ///
  /// - An app receipt: each attribute by its name, or as `attribute-1717` if it has no name; the value as number, as
  ///   text, or otherwise in hexadecimal.
  /// - A transaction receipt: the entries of its purchase information.
  /// - A licence: its fields.
  ///
  /// - Throws: An error if the content cannot be read again; the result is never empty instead.
  package func payloadJSON() throws -> [UInt8] {
    switch content {
    case .jws:
      // RFC 7515 section 5.1: the signing input is header and payload, each in base64url.
      let signed = signedContent.span
      guard let dot = ByteSearch.firstIndex(of: UInt8(ascii: "."), in: signed) else {
        throw UnreadablePayload(kind: kind)
      }
      // Base64url has no dot, so a second one is an error.
      return try Base64URL.decode(signed.extracting((dot + 1)...))
    case .appReceipt(let payload): return payload.jsonValue.encoded()
    case .transactionReceipt:
      // The first byte is the signature version.
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
  /// Encodes the payload with the store's names, as `receipt-tool verify --payload` prints it, including members that
  /// this version does not know.
  ///
  /// - Throws: Any error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .jws(let payload): try payload.encode(to: encoder)
    case .appReceipt(let payload): try payload.encode(to: encoder)
    case .transactionReceipt(let purchaseInfo): try purchaseInfo.encode(to: encoder)
    case .detached(let content): try content.encode(to: encoder)
    }
  }
}
