// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Builds a JWS (RFC 7515, section 7.1). The signature is computed elsewhere.
package enum JWSWriter {
  /// The bytes to sign: the encoded header, a dot, the encoded payload.
  package static func signingInput(header: JWSHeader, payload: [UInt8]) -> [UInt8] {
    Base64URL.encode(header.encoded()) + [UInt8(ascii: ".")] + Base64URL.encode(payload)
  }

  /// The compact serialization: the signed bytes, a dot, the encoded signature.
  package static func compact(signingInput: [UInt8], signature: [UInt8]) -> [UInt8] {
    signingInput + [UInt8(ascii: ".")] + Base64URL.encode(signature)
  }
}
