// SPDX-License-Identifier: Apache-2.0

/// A parsed app receipt, none of whose contents has been verified.
///
/// The receipt is a CMS `SignedData` (RFC 5652) whose content is a set of attributes. The App Store writes DER and
/// Xcode writes BER; both are accepted.
public struct UnverifiedAppReceipt: Sendable, Hashable {
  /// The receipt exactly as received, in binary.
  package let encoded: [UInt8]
  /// The container: the signed content, the certificates and the signatures.
  package let signedData: CMSSignedData

  /// Parses a binary receipt. For base64 or JSON around a receipt, see ``UnverifiedReceipt``.
  ///
  /// - Throws: ``MalformedReceipt`` with the offset of the error in the container. The codes are `empty`; `tooLarge`;
  ///   `unrecognized` if the input is not ASN.1; `truncated`; `trailingData`; `unsupported` for another content type or
  ///   version; `missing` for a detached signature; `duplicate` if a signed attribute repeats; and `unexpected`,
  ///   `invalidValue`, `outOfRange` or `tooDeep` for malformed ASN.1.
  package init(parsing bytes: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    guard !bytes.isEmpty else { throw MalformedReceipt(.empty, at: .whole, "There are no bytes.") }
    try limits.require(bytes.count, of: "receipt", at: .whole)
    guard bytes.first == 0x30 else {
      throw MalformedReceipt(
        .unrecognized, at: .byteOffset(0, within: CMSSignedData.part.description),
        "An app receipt begins with a SEQUENCE, byte 0x30. Is it in base64 still?")
    }
    encoded = bytes
    signedData = try CMSSignedData(reading: bytes, limits: limits)
  }

  /// Decodes the signed content.
  ///
  /// - Throws: ``MalformedReceipt``, placed at the attribute at fault.
  public func decoded(
    limits: ReceiptLimits = .standard
  ) throws(MalformedReceipt) -> Unverified<AppReceiptPayload> {
    Unverified(try AppReceiptPayload(decoding: signedData.content, limits: limits))
  }
}
