// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec

/// Recognition: any bytes, in any of the wrappings that receipts come in.
func fuzzRecognition(_ bytes: [UInt8]) {
  guard let receipt = try? UnverifiedReceipt(parsing: bytes) else { return }
  _ = try? receipt.kind()

  // The receipt that was found inside is recognized by itself, as the same receipt.
  let inner: [UInt8]
  switch receipt {
  case .jws(let jws):
    // Text that begins with 0 is taken for DER, unless white space is before it. No header begins so.
    guard (try? jws.header()) != nil else { return }
    inner = jws.compact
  case .appReceipt(let appReceipt): inner = appReceipt.encoded
  case .transactionReceipt(let transactionReceipt): inner = transactionReceipt.encoded
  case .detached(let detached): inner = detached.encoded
  }
  let again = mustSucceed("what was unwrapped is not recognized") { try UnverifiedReceipt(parsing: inner) }
  require(again == receipt, "what was unwrapped is another receipt")
}
