// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// App receipts: the CMS container in DER and BER, then its content.
func fuzzAppReceipt(_ bytes: [UInt8]) {
  guard let receipt = try? UnverifiedAppReceipt(parsing: bytes) else { return }
  require(receipt.encoded == bytes, "the receipt is not kept as received")
  if let payload = try? receipt.decoded().content {
    require(payload.encoded()[...] == receipt.signedData.content, "decoding changed the signed content")
  }
}
