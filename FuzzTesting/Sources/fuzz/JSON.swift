// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// JSON, as the payload and as the header of a JWS: what is read and written again says the same.
func fuzzJSON(_ bytes: [UInt8]) {
  if let payload = try? JWSPayload(decoding: bytes) {
    let again = mustSucceed("what was written does not parse") {
      try JWSPayload(decoding: payload.encoded())
    }
    require(again == payload, "the payload changed")
    require(again.encoded() == payload.encoded(), "writing twice gives two texts")
  }
  if let header = try? JWSHeader(decoding: bytes) {
    let again = mustSucceed("the header that was written does not parse") {
      try JWSHeader(decoding: header.encoded())
    }
    require(again == header, "the header changed")
  }
}
