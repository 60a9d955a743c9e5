// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The protected header of a JWS (RFC 7515, section 4). It must not be trusted before the signature and the certificate
/// chain have been verified.
package struct JWSHeader: Sendable, Hashable {
  /// The signature algorithm, as written; App Store signatures use `ES256`.
  package var alg: String
  /// The certificate chain in DER, leaf first; empty if the header has none.
  package var x5c: [[UInt8]]
  /// The key identifier; Xcode writes `Apple_Xcode_Key`.
  package var kid: String?
  /// The media type; Xcode writes `JWT`.
  package var typ: String?
  /// The names of extensions that must be understood (section 4.1.11). This codec understands no extension, so a header
  /// with this member must not be accepted.
  package var crit: [String]?
  /// The members without a field, in order; they are written after the fields.
  package var unknownFields: [JSONMember] = []

  package init(
    alg: String = "ES256", x5c: [[UInt8]] = [], kid: String? = nil, typ: String? = nil,
    crit: [String]? = nil
  ) {
    self.alg = alg
    self.x5c = x5c
    self.kid = kid
    self.typ = typ
    self.crit = crit
  }

  /// Decodes a header from JSON.
  ///
  /// - Throws: ``MalformedReceipt``: `.missing` at `$.alg`; `.wrongType`, `.duplicate` or `.invalidBase64` at the
  ///   member; otherwise with the byte offset.
  package init(decoding json: [UInt8], limits: ReceiptLimits = .standard) throws(MalformedReceipt) {
    try self.init(json: json, part: "JWS header", limits: limits)
  }

  package func encoded() -> [UInt8] { encodedJSON() }
}

extension JWSHeader: JSONObject {
  package enum Field: String, CaseIterable { case alg, kid, typ, x5c, crit }

  package static let fieldNames = JSONFieldNames<Field>(required: [.alg])

  /// A `crit` of `null` must not be treated as a missing `crit`.
  package static var acceptsNull: Bool { false }

  package init() { self.init(alg: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .alg: try coder.code(&alg)
    case .kid: try coder.code(&kid)
    case .typ: try coder.code(&typ)
    case .x5c:
      var certificates: [Base64Bytes]? = x5c.isEmpty ? nil : x5c.map(Base64Bytes.init)
      try coder.code(&certificates)
      x5c = (certificates ?? []).map(\.value)
    case .crit: try coder.code(&crit)
    }
  }
}

/// Builds a JWS (RFC 7515, section 7.1). The caller computes the signature.
package enum JWSWriter {
  /// Returns the bytes to sign: the encoded header, a dot and the encoded payload.
  package static func signingInput(header: JWSHeader, payload: [UInt8]) -> [UInt8] {
    Base64URL.encode(header.encoded()) + [UInt8(ascii: ".")] + Base64URL.encode(payload)
  }

  /// Returns the compact serialization: the signed bytes, a dot and the encoded signature.
  package static func compact(signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
    signingInput + [UInt8(ascii: ".")] + Base64URL.encode(signature)
  }
}
