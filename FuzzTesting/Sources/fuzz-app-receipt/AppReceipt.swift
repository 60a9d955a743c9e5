// SPDX-License-Identifier: Apache-2.0

import FuzzSupport
import ReceiptCodec

/// App receipts: the CMS container in DER and BER, then its content.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = input(start, count)
  guard let receipt = try? UnverifiedAppReceipt(parsing: bytes) else { return 0 }
  require(receipt.encoded == bytes, "the receipt is not kept as received")
  if let payload = try? receipt.decodePayload() {
    require(payload.encoded()[...] == receipt.signedData.content, "decoding changed the signed content")
  }
  return 0
}
