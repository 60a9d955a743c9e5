// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A JWS in compact serialization (RFC 7515, section 7.1), split into its parts but not verified.
public struct UnverifiedJWS: Sendable, Hashable {
  /// The bytes as received.
  package let compact: [UInt8]
  /// The decoded payload, exactly as signed.
  package let payload: [UInt8]
  /// The decoded signature; for `ES256` the 64 bytes r ‖ s.
  package let signature: [UInt8]
  /// The range of the encoded header in ``compact``. Headers with equal bytes there are equal.
  package let encodedHeaderRange: Range<Int>
  /// The range of the signed bytes in ``compact``: header, dot and payload.
  package let signingInputRange: Range<Int>

  /// Splits a compact JWS and decodes its payload and signature, but not its header. The caller must have removed white
  /// space around the JWS.
  ///
  /// - Throws: ``MalformedReceipt`` at the byte offset: `.empty`, `.tooLarge`, `.truncated` (fewer than three
  ///   parts), `.unexpected` (more than three), `.missing` (an empty header or payload) or `.invalidBase64`.
  package init(parsing compact: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    guard !compact.isEmpty else {
      throw Self.failure(.empty, at: 0, "There is no JWS: the input is empty.")
    }
    try limits.require(compact.count, of: "JWS")
    let bytes = compact.span
    let dot = UInt8(ascii: ".")
    guard let first = ByteSearch.firstIndex(of: dot, in: bytes),
      let second = ByteSearch.firstIndex(of: dot, in: bytes, from: first + 1)
    else {
      throw Self.failure(
        .truncated, at: compact.count, "A JWS has three parts with dots between them; this one ends earlier.")
    }
    if let third = ByteSearch.firstIndex(of: dot, in: bytes, from: second + 1) {
      throw Self.failure(.unexpected, at: third, "A JWS has three parts; this one has more.")
    }
    guard first > 0 else { throw Self.failure(.missing, at: 0, "The header of the JWS is empty.") }
    guard second > first + 1 else {
      throw Self.failure(.missing, at: second, "The payload of the JWS is empty.")
    }
    self.compact = compact
    self.encodedHeaderRange = 0..<first
    self.signingInputRange = 0..<second
    self.payload = try Base64URL.decode(
      bytes.extracting((first + 1)..<second), part: "JWS", start: first + 1)
    self.signature = try Base64URL.decode(
      bytes.extracting((second + 1)..<bytes.count), part: "JWS", start: second + 1)
  }

  /// Decodes the header.
  package func header(limits: ReceiptLimits = .standard) throws(MalformedReceipt) -> JWSHeader {
    let json = try Base64URL.decode(compact.span.extracting(encodedHeaderRange), part: "JWS")
    return try JWSHeader(decoding: json, limits: limits)
  }

  /// Decodes the payload; its members imply its kind.
  ///
  /// - Throws: ``MalformedReceipt``: `.unrecognized` at `$` if no kind is implied; `.unexpected` at `$` if two are
  ///   implied; otherwise with the byte offset, or with the JSON path of a member that is duplicate, out of range or of
  ///   the wrong type.
  public func decoded(limits: ReceiptLimits = .standard) throws(MalformedReceipt) -> Unverified<JWSPayload> {
    Unverified(try JWSPayload(decoding: payload, limits: limits))
  }

  private static func failure(
    _ code: MalformedReceipt.Code, at offset: Int, _ message: String
  ) -> MalformedReceipt {
    MalformedReceipt(code, at: .byteOffset(offset, within: "JWS"), message)
  }
}
