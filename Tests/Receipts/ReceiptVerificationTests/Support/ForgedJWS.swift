// SPDX-License-Identifier: Apache-2.0

import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting

/// JWS put together by hand.
enum ForgedJWS {
  static let samplePayload = JWSPayload.transaction(SampleReceipts.transaction).encoded()

  /// Header, payload and signature as they are.
  static func joined(header: [UInt8], payload: [UInt8], signature: [UInt8]) -> [UInt8] {
    Base64URL.encode(header) + [UInt8(ascii: ".")] + Base64URL.encode(payload) + [UInt8(ascii: ".")]
      + Base64URL.encode(signature)
  }

  /// Signed with ES256 by the test authority's leaf, whatever the header says.
  static func signed(
    header: [UInt8], payload: [UInt8] = samplePayload, by identity: SigningIdentity? = nil
  ) throws -> [UInt8] {
    let identity = if let identity { identity } else { try Fixture.es256.identity }
    return try JWSSigner(unchecked: identity, header: header).sign(encodedPayload: payload)
  }

  /// A header in which the given JSON stands beside the genuine `x5c`.
  static func header(_ members: String) throws -> [UInt8] {
    let certificates = try Fixture.es256.identity.chain.map { "\"\(Base64.encodeToString($0.der))\"" }
    return Array("{\(members),\"x5c\":[\(certificates.joined(separator: ","))]}".utf8)
  }

  /// A receipt with its signature changed.
  static func replacingSignature(
    of jws: [UInt8], with change: ([UInt8]) throws -> [UInt8]
  ) throws -> [UInt8] {
    let parsed = try UnverifiedJWS(parsing: jws)
    return jws[parsed.signingInputRange] + [UInt8(ascii: ".")]
      + Base64URL.encode(try change(parsed.signature))
  }

  /// A receipt with its payload changed under the old signature.
  static func replacingPayload(of jws: [UInt8], with payload: [UInt8]) throws -> [UInt8] {
    let parsed = try UnverifiedJWS(parsing: jws)
    return jws[parsed.encodedHeaderRange] + [UInt8(ascii: ".")] + Base64URL.encode(payload)
      + [UInt8(ascii: ".")] + Base64URL.encode(parsed.signature)
  }
}
