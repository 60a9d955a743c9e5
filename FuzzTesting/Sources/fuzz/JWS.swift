// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// JWS in compact serialization: its parts, its header, its payload.
func fuzzJWS(_ bytes: [UInt8]) {
  guard let jws = try? UnverifiedJWS(parsing: bytes) else { return }
  require(jws.compact == bytes, "the JWS is not kept as received")
  if let header = try? jws.header() {
    // Base64url and JSON leave no two spellings of the same signed bytes once they are decoded.
    let input = JWSWriter.signingInput(header: header, payload: jws.payload)
    let again = mustSucceed("what was written does not parse") {
      try UnverifiedJWS(parsing: JWSWriter.compact(signingInput: input, signature: jws.signature))
    }
    require(again.payload == jws.payload, "the payload changed")
    require(again.signature == jws.signature, "the signature changed")
    let headerAgain = mustSucceed("the header that was written does not parse") { try again.header() }
    require(headerAgain == header, "the header changed")
  }
  _ = try? jws.decoded().content
}
